#!/usr/bin/env node
// Each task goes where it runs shortest, of the pools where it fits now; of equals to the one where it starts first.
//
//     gridemu run configs/quickstart.toml --broker "node examples/brokers/shortest.js"
const lines = require("readline").createInterface({ input: process.stdin });

function decide(question) {
  const choices = question.choices.filter((choice) => choice.end !== undefined);
  choices.sort((a, b) => a.run - b.run || a.start - b.start || a.pool - b.pool);
  return choices.slice(0, 1).map((best) => ({
    id: question.ask,
    task: question.task,
    assign: best.pool,
    reason: "shortest run",
  }));
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  const answer = message.hello
    ? { hello: { version: 1, name: "shortest.js", mode: "immediate", gate: "fits", steady: true } }
    : { answer: message.ask, plan: decide(message) };
  process.stdout.write(JSON.stringify(answer) + "\n");
});
