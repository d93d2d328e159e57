//! What is known of each measure: title, unit, direction and meaning.

use super::Better::{self, Higher, Lower, Neither};

/// A measure, or all whose ids end in these words after a dot; `*` is a name.
pub(super) struct Known {
    pub(super) ends: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) meaning: &'static str,
}

const fn known(
    ends: &'static str,
    title: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
) -> Known {
    Known { ends, title, unit, better, meaning }
}

/// What is known of the measure `id`: the entry with the longest end of it, of equals the last.
pub(super) fn find(id: &str) -> Option<&'static Known> {
    let fits = |known: &&Known| {
        let words: Vec<&str> = id.rsplit('.').take(known.ends.split('.').count()).collect();
        let mut ends = known.ends.rsplit('.');
        words.len() == known.ends.split('.').count()
            && words.iter().all(|word| ends.next().is_some_and(|end| end == "*" || end == *word))
    };
    KNOWN.iter().filter(fits).max_by_key(|known| known.ends.split('.').count())
}

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    known("jobs", "jobs", "", Neither, "Number of jobs, whatever their outcome."),
    known("measured", "measured jobs", "", Neither, "Number of jobs in means and quantiles: those that ran to their end (completed, or killed at their estimate)."),
    known("submitted", "submitted jobs", "", Neither, "Number of all jobs, in the measurement window and outside."),
    known("completed", "completed jobs", "", Higher, "Number of jobs that did all their work."),
    known("killed", "jobs killed at their estimate", "", Lower, "Number of jobs that ended at their estimate with work left."),
    known("failed", "failed jobs", "", Lower, "Number of jobs that a site or a machine ended."),
    known("rejected", "rejected jobs", "", Lower, "Number of jobs that were never accepted."),
    known("cancelled", "cancelled jobs", "", Neither, "Number of jobs that were withdrawn."),
    known("unfinished", "unfinished jobs", "", Lower, "Number of jobs that waited or ran when the run ended."),
    known("mean_wait", "mean wait", "s", Lower, "Mean time from submission to first start."),
    known("median_wait", "median wait", "s", Lower, "Median time from submission to first start."),
    known("p95_wait", "95th percentile of the wait", "s", Lower, "95 % of the jobs waited at most so long."),
    known("max_wait", "longest wait", "s", Lower, "Longest time from submission to first start."),
    known("mean_response", "mean response time", "s", Lower, "Mean time from submission to end."),
    known("median_response", "median response time", "s", Lower, "Median time from submission to end."),
    known("p95_response", "95th percentile of the response time", "s", Lower, "95 % of the jobs had ended so long after their submission."),
    known("max_response", "longest response time", "s", Lower, "Longest time from submission to end."),
    known("mean_bounded_slowdown", "mean bounded slowdown", "", Lower, "Mean of max(1, response / max(run, tau))."),
    known("median_bounded_slowdown", "median bounded slowdown", "", Lower, "Median of max(1, response / max(run, tau))."),
    known("p95_bounded_slowdown", "95th percentile of the bounded slowdown", "", Lower, "95 % of the jobs had at most this bounded slowdown."),
    known("max_bounded_slowdown", "largest bounded slowdown", "", Lower, "Largest max(1, response / max(run, tau))."),
    known("to_the_end.jobs", "jobs", "", Lower, "Number of jobs that did not run to their end (failed, rejected, cancelled, unfinished)."),
    known("to_the_end.mean_wait", "mean wait", "s", Lower, "Mean wait of all jobs; one that did not run to its end counts as if it had started at the end of the run."),
    known("to_the_end.mean_response", "mean response time", "s", Lower, "Mean response time of all jobs; one that did not run to its end counts as if it had started at the end of the run."),
    known("to_the_end.mean_bounded_slowdown", "mean bounded slowdown", "", Lower, "Mean bounded slowdown of all jobs; one that did not run to its end counts as if it had started at the end of the run."),
    known("slowdown_of_means", "slowdown of means (response over time from start to end)", "", Lower, "Mean response over mean time from start to end."),
    known("accepted", "elastic commands that were carried out", "", Neither, "Number of elastic commands that were carried out."),
    known("elastic.refused.*", "refused elastic commands", "", Neither, "Number of elastic commands refused for this reason."),
    known("preemption.suspensions", "suspensions", "", Neither, "How often a job was suspended."),
    known("preemption.jobs", "jobs that were suspended", "", Neither, "Number of jobs that were suspended, each once."),
    known("preemption.preempted", "suspensions for another job", "", Neither, "Suspensions of which the policy said for which job."),
    known("preemption.resumed", "resumed jobs", "", Neither, "How often a suspended job was resumed."),
    known("preemption.mean_s", "mean time suspended", "s", Lower, "Mean time from a suspension until the job got processors again."),
    known("preemption.longest_s", "longest time suspended", "s", Lower, "Longest time from a suspension until the job got processors again."),
    known("on_time", "dedicated jobs that started on time", "", Higher, "Number of dedicated jobs that started at their requested time."),
    known("delayed", "dedicated jobs that started late", "", Lower, "Number of dedicated jobs that started after their requested time."),
    known("mean_delay", "mean delay", "s", Lower, "Mean time from the requested to the actual start."),
    known("max_delay", "longest delay", "s", Lower, "Longest time from the requested to the actual start."),
    known("deadlines", "jobs with a deadline", "", Neither, "Number of jobs with a deadline."),
    known("met", "jobs in time", "", Higher, "Number of jobs that completed by their deadline."),
    known("missed", "jobs that missed their deadline", "", Lower, "Number of jobs that did not complete by their deadline."),
    known("mean_lateness", "mean lateness", "s", Lower, "Mean time from the deadline to the end of the jobs that completed; 0 for one in time."),
    known("max_lateness", "longest lateness", "s", Lower, "Longest time from the deadline to the end of a job that completed."),
    known("mean_penalty", "mean penalty", "", Lower, "Mean penalty of jobs with a deadline: exponential in the lateness up to a bound, which a job that does not complete counts."),
    known("budgets", "jobs with a budget", "", Neither, "Number of jobs with a budget."),
    known("over_budget", "jobs over their budget", "", Lower, "Number of jobs that cost more than their budget."),
    known("overspent", "cost over budgets", "", Lower, "What jobs cost beyond their budgets in all."),
    known("makespan", "makespan", "s", Lower, "Last end less first submission of the jobs that started."),
    known("workflows.count", "workflows", "", Neither, "Number of workflows, whatever their outcome."),
    known("workflows.completed", "completed workflows", "", Higher, "Number of workflows of which all tasks completed."),
    known("workflows.failed", "failed workflows", "", Lower, "Number of workflows of which a task did not complete."),
    known("workflows.unfinished", "unfinished workflows", "", Lower, "Number of workflows that had not ended when the run ended."),
    known("workflows.tasks", "tasks of workflows", "", Neither, "Number of tasks of workflows."),
    known("workflows.attempts", "attempts of tasks", "", Lower, "Number of attempts of tasks of workflows that were started."),
    known("workflows.mean_makespan", "mean makespan of workflows", "s", Lower, "Mean time from the submission of a workflow to its end."),
    known("workflows.max_makespan", "longest makespan of a workflow", "s", Lower, "Longest time from the submission of a workflow to its end."),
    known("workflows.mean_slr", "mean schedule length ratio", "", Lower, "Mean makespan of a workflow over the longest way through it, each task on the fastest processors that fit it."),
    known("workflows.mean_slowdown", "mean slowdown of workflows", "", Lower, "Mean makespan of a workflow over the time below which no schedule can finish it alone on the grid."),
    known("workflows.mean_speedup", "mean speedup of workflows", "", Higher, "Mean work of a workflow, on the fastest processors that fit its tasks, over its makespan."),
    known("workflows.mean_efficiency", "mean efficiency of workflows", "", Higher, "Mean speedup of a workflow over the most processors that its tasks held at once."),
    known("workflows.mean_moved_bytes", "mean data moved for a workflow", "bytes", Lower, "Mean of the sizes of all copies of the files of a workflow that had arrived when it ended."),
    known("workflows.mean_energy_kwh", "mean energy of workflows", "kWh", Lower, "Mean energy that the jobs of a workflow were charged, all attempts of its tasks."),
    known("workflows.mean_cost", "mean cost of workflows", "", Lower, "Mean of what the jobs of a workflow were charged, all attempts of its tasks."),
    known("workflows.moved_bytes", "data moved for workflows", "bytes", Lower, "Sizes of all copies of files of workflows that arrived in the whole run."),
    known("workflows.share.run", "share of makespans in which a task ran", "", Higher, "Share of makespans, along the paths that determined the ends of workflows, in attempts that completed."),
    known("workflows.share.data", "share of makespans that waited for data", "", Lower, "Share of makespans, along the paths that determined the ends of workflows, in which a task waited for files."),
    known("workflows.share.dispatch", "share of makespans in dispatch", "", Lower, "Share of makespans, along the paths that determined the ends of workflows, in which a task was at the broker, its engine prepared it, a message was on its way, or it had waited at a site from which it was recalled."),
    known("workflows.share.queue", "share of makespans in queues", "", Lower, "Share of makespans, along the paths that determined the ends of workflows, in which a task waited in the queue of a site."),
    known("workflows.share.lost", "share of makespans lost to failures", "", Lower, "Share of makespans, along the paths that determined the ends of workflows, from a first start to the start of the attempt that completed."),
    known("workflows.overtakes", "tasks that overtook the plan's order", "", Neither, "Number of planned tasks that started before one that was sent before them to the same pool."),
    known("workflows.limits.deadlines", "workflows with a deadline", "", Neither, "Number of workflows with a deadline."),
    known("workflows.limits.met", "workflows in time", "", Higher, "Number of workflows that completed by their deadline."),
    known("workflows.limits.missed", "workflows that missed their deadline", "", Lower, "Number of workflows that did not complete by their deadline."),
    known("workflows.limits.mean_lateness", "mean lateness of workflows", "s", Lower, "Mean time from the deadline to the end of the workflows that completed; 0 for one in time."),
    known("workflows.limits.max_lateness", "longest lateness of a workflow", "s", Lower, "Longest time from the deadline to the end of a workflow that completed."),
    known("workflows.limits.mean_penalty", "mean penalty of workflows", "", Lower, "Mean penalty of workflows with a deadline: exponential in the lateness up to a bound, which a workflow that does not complete counts."),
    known("workflows.limits.budgets", "workflows with a budget", "", Neither, "Number of workflows with a budget."),
    known("workflows.limits.over_budget", "workflows over their budget", "", Lower, "Number of workflows that cost more than their budget."),
    known("workflows.limits.overspent", "cost of workflows over their budgets", "", Lower, "What workflows cost beyond their budgets in all."),
    known("workflows.repeated", "tasks run again for lost data", "", Lower, "Number of times that a task, or a group, which had completed was run again, because what it had written was lost."),
    known("begin_s", "first submission", "s", Neither, "First submission of a job, from the origin of the run."),
    known("end_s", "last end", "s", Lower, "Last end of a job, from the origin of the run."),
    known("drain_s", "time to drain", "s", Lower, "Time from the end of the measurement window to the last end of a job."),
    known("finish.least_share", "earliest finish of a site", "", Higher, "When the first site becomes free for good, as a share of the time until all have."),
    known("finish.least_utilization", "least utilization until the finish", "", Higher, "Least utilization of a site from the first submission until it becomes free for good."),
    known("finish.mean_utilization", "mean utilization until the finish", "", Higher, "Mean over sites of their utilization from the first submission until each becomes free for good."),
    known("finish.mean_idle_s", "idle until the finish", "s", Lower, "Mean over sites of how long a processor is idle before its site becomes free for good."),
    known("finish.after_s", "finish of the site", "s", Lower, "Time from the first submission until the site becomes free for good."),
    known("finish.share", "finish of the site", "", Neither, "Time until the site becomes free for good, as a share of the time until all have."),
    known("finish.utilization", "utilization until the finish", "", Higher, "Utilization of the site from the first submission until it becomes free for good."),
    known("utilization", "utilization", "", Higher, "Share of the nominal capacity in use. Of machines of unequal speed it also rises when slower ones do the work."),
    known("utilization_available", "utilization of the available capacity", "", Higher, "Share in use of the capacity that was neither down nor reserved."),
    known("down", "share of the capacity that was down", "", Neither, "Share of the nominal capacity that was down."),
    known("processors", "processors", "", Neither, "Processors of the site with all its machines."),
    known("cost", "cost to users", "", Lower, "What users paid for the processor time given to their jobs."),
    known("charged", "cost charged to these jobs", "", Lower, "What these jobs were charged."),
    known("charged_kwh", "energy charged to these jobs", "kWh", Lower, "Energy that these jobs were charged."),
    known("energy.electricity_cost", "cost of electricity", "", Lower, "Price of the facility energy, where electricity has one."),
    known("energy.carbon_kg", "carbon", "kg", Lower, "CO₂ equivalent that the facility energy caused, where the carbon intensity is known."),
    known("energy.embodied_kg", "embodied carbon", "kg", Lower, "Part of the carbon of making the machines that falls to the run."),
    known("jobs_kwh", "energy of jobs", "kWh", Lower, "Energy that jobs drew."),
    known("idle_kwh", "energy of idle processors", "kWh", Lower, "Energy that processors drew while no job held them."),
    known("energy.asleep_kwh", "energy of machines that slept", "kWh", Neither, "Energy that machines drew while they slept."),
    known("energy.transitions_kwh", "energy of transitions", "kWh", Lower, "Energy that machines drew on their way to sleep and back."),
    known("meter_kwh", "IT energy", "kWh", Lower, "Energy of jobs and of machines without jobs."),
    known("power_cap_w", "power cap", "W", Neither, "What machines may draw at most."),
    known("most_in_use", "processors under the cap", "", Neither, "The most processors that a power cap lets be in use at once."),
    known("facility_kwh", "facility energy", "kWh", Lower, "IT energy times PUE."),
    known("ledger.energy_kwh.*", "energy spent", "kWh", Lower, "Energy that was drawn for this purpose; cooling is PUE, data what the network drew to move it, total all of it."),
    known("ledger.energy_kwh.asleep", "energy spent", "kWh", Neither, "Energy that machines drew while they slept."),
    known("ledger.electricity.*", "electricity paid", "", Lower, "What electricity for this purpose cost the sites where it has a price."),
    known("ledger.electricity.asleep", "electricity paid", "", Neither, "What electricity of machines that slept cost the sites where it has a price."),
    known("ledger.carbon_kg.*", "carbon caused", "kg", Lower, "CO₂ equivalent that this purpose caused, where the carbon intensity is known."),
    known("ledger.carbon_kg.asleep", "carbon caused", "kg", Neither, "CO₂ equivalent that machines caused while they slept, where the carbon intensity is known."),
    known("per_work.core_h", "useful work", "core-h", Higher, "Work of jobs that completed, and what checkpoints kept of failed attempts, in hours of a processor at speed 1."),
    known("per_work.energy_kwh", "energy per useful core-hour", "kWh", Lower, "All energy, of facilities and of moved data, for each core-hour of useful work at speed 1."),
    known("per_work.electricity", "electricity per useful core-hour", "", Lower, "What electricity cost for each core-hour of useful work at speed 1, where it has a price."),
    known("per_work.carbon_kg", "carbon per useful core-hour", "kg", Lower, "CO₂ equivalent for each core-hour of useful work at speed 1, where the carbon intensity is known."),
    known("per_work.cost", "cost to users per useful core-hour", "", Lower, "What users paid for each core-hour of useful work at speed 1."),
    known("wasted_proc_s", "processor time wasted by failed attempts", "s", Lower, "Processor-seconds of attempts that failed with machines of the site while their jobs went on."),
    known("usage.nominal", "nominal processor time", "s", Neither, "Processor-seconds of all processors over the account."),
    known("usage.useful", "useful processor time", "s", Neither, "Processor-seconds of jobs that completed."),
    known("usage.wasted", "wasted processor time", "s", Lower, "Processor-seconds of jobs that did not complete, and of failed attempts as far as no checkpoint saved them."),
    known("usage.overhead", "processor time of overhead", "s", Lower, "Processor-seconds of suspending, resuming, checkpointing and staging."),
    known("usage.reserved", "reserved processor time", "s", Neither, "Processor-seconds kept from the queue by reservations."),
    known("usage.idle", "idle processor time", "s", Neither, "Processor-seconds without use."),
    known("usage.dormant", "processor time of machines that were not awake", "s", Neither, "Of the idle time, that of machines that slept or were on their way to sleep or back."),
    known("usage.down", "processor time that was down", "s", Neither, "Processor-seconds of unavailable processors."),
    known("longest_queue", "longest queue", "jobs", Lower, "Largest number of waiting jobs."),
    known("backlog.first_third", "jobs in the system, first third", "jobs", Lower, "Mean number of jobs in the system over the first third of the window."),
    known("backlog.second_third", "jobs in the system, second third", "jobs", Lower, "Mean number of jobs in the system over the second third of the window."),
    known("backlog.last_third", "jobs in the system, last third", "jobs", Lower, "Mean number of jobs in the system over the last third of the window."),
    known("at_end", "jobs in the system at the end of the measured submissions", "jobs", Lower, "Number of jobs in the system at the end of the window."),
    known("information_age.assignments", "assignments", "", Neither, "Number of assignments of jobs to pools."),
    known("information_age.mean_s", "mean age of information", "s", Lower, "Mean age of the broker's information on the chosen pool at an assignment."),
    known("information_age.max_s", "largest age of information", "s", Lower, "Largest age of the broker's information on the chosen pool at an assignment."),
    known("planning.plans", "plans that took time", "", Neither, "Number of plans that took time."),
    known("planning.time_s", "planning time", "s", Lower, "Time that plans took, one after the other."),
    known("planning.stale", "decisions that came too late", "", Lower, "Number of decisions that no longer held when their plan was made."),
    known("fronts.plannings", "plannings with a front", "", Neither, "Number of plannings that chose from a front."),
    known("fronts.tasks", "tasks of a planning", "", Neither, "Mean number of tasks of a planning that chose from a front."),
    known("fronts.evaluations", "evaluations of a planning", "", Neither, "Mean number of schedules that a planning evaluated."),
    known("fronts.size", "schedules of a front", "", Higher, "Mean number of schedules of a front, no two with the same objectives."),
    known("fronts.hypervolume", "hypervolume", "", Higher, "Mean hypervolume of a front: the share that it dominates of the box from 0 to twice the objectives of the schedule in which each task ends first."),
    known("fronts.value", "value of the chosen schedule", "", Lower, "Mean value of the schedules that were chosen, of which less is better: the weighted sum of the objectives, for instance."),
    known("churn.machines.left", "machines left", "", Neither, "Number of events of machines that left."),
    known("churn.machines.joined", "machines joined", "", Neither, "Number of events of machines that joined."),
    known("churn.machines.slowed", "machines slowed", "", Neither, "Number of events that slowed machines."),
    known("churn.machines.processors_left", "processors left", "", Neither, "Processors of machines that left, summed over events."),
    known("churn.machines.processors_joined", "processors joined", "", Neither, "Processors of machines that joined, summed over events."),
    known("churn.wasted.*.attempts", "failed attempts", "", Lower, "Number of attempts (machine_left, site_left) or of jobs whose work was wasted for this cause."),
    known("churn.wasted.*.proc_s", "wasted work", "s", Lower, "Processor-seconds wasted for this cause."),
    known("churn.wasted.*.share", "share of wasted work", "", Lower, "Share of all processor time in use that was wasted for this cause."),
    known("churn.jobs.requeued", "requeued", "", Lower, "Number of times that a job waited at its site again after a failed attempt."),
    known("churn.jobs.returned", "returned to the broker", "", Lower, "Number of times that a job returned to the broker."),
    known("churn.jobs.stalled", "stalled", "", Lower, "Number of times that a job stood still until its machine was up again."),
    known("churn.jobs.continued", "continued", "", Neither, "Number of times that a job continued after it had stood still."),
    known("churn.jobs.failed", "jobs that failed with an attempt", "", Lower, "Number of jobs that failed with their attempt."),
    known("churn.jobs.refused", "refused by a site", "", Lower, "Number of times that a site refused a job."),
    known("churn.jobs.recalled", "recalled", "", Neither, "Number of times that the broker recalled a job."),
    known("churn.jobs.reassigned", "reassigned", "", Neither, "Number of times that a job was assigned again."),
    known("churn.jobs.given_up", "given up", "", Lower, "Number of jobs that the grid gave up on."),
    known("churn.attempts.*.jobs", "jobs with so many attempts", "", Neither, "Number of jobs that started so many attempts."),
    known("churn.restarts.count", "restarts", "", Lower, "Number of restarts after a failed attempt."),
    known("churn.restarts.mean_s", "mean time to restart", "s", Lower, "Mean time from a failed attempt to the restart."),
    known("churn.restarts.median_s", "median time to restart", "s", Lower, "Median time from a failed attempt to the restart."),
    known("churn.restarts.max_s", "longest time to restart", "s", Lower, "Longest time from a failed attempt to the restart."),
    known("churn.changes_per_event", "changes per event", "", Neither, "Assignments recalled or made anew, per event of machines that left or joined."),
    known("churn.replanning.changed", "grid jobs changed by churn", "", Lower, "Number of times that churn changed the site or the start of a grid job."),
    known("churn.replanning.changed_per_event", "grid jobs changed per event", "", Lower, "Number of times that churn changed the site or the start of a grid job, per event of machines that left or joined."),
    known("churn.replanning.never", "returns without another assignment", "", Lower, "Number of times that a job returned because of churn and was not assigned again."),
    known("churn.replanning.returns_before_start", "returns before the start", "", Lower, "Number of times that a grid job returned to the broker before it had started where it was assigned."),
    known("churn.replanning.returns_after_start", "returns after the start", "", Lower, "Number of times that a grid job returned to the broker after it had started where it was assigned."),
    known("churn.replanning.time.count", "assignments after churn", "", Neither, "Number of times that a job which had returned because of churn was assigned again."),
    known("churn.replanning.time.mean_s", "mean time to replan", "s", Lower, "Mean time from when a job returned because of churn to its next assignment."),
    known("churn.replanning.time.median_s", "median time to replan", "s", Lower, "Median time from when a job returned because of churn to its next assignment."),
    known("churn.replanning.time.max_s", "longest time to replan", "s", Lower, "Longest time from when a job returned because of churn to its next assignment."),
    known("churn.refusals.*.count", "refusals", "", Lower, "Number of refusals for this reason."),
    known("churn.faults.unheard", "sites taken as lost", "", Lower, "Number of times that a site was not heard of for too long."),
    known("churn.faults.lost", "assignments lost", "", Lower, "Number of assignments that were taken as lost."),
    known("churn.faults.stale_messages", "stale messages", "", Neither, "Number of messages that were ignored, because they were about an assignment that was over, or not the newest."),
    known("churn.recovery.major_outages", "major outages", "", Neither, "Number of instants at which a large part of the available processors left."),
    known("churn.recovery.unaffected", "outages without effect", "", Higher, "Number of major outages below which throughput did not fall."),
    known("churn.recovery.unrecovered", "outages without recovery", "", Lower, "Number of major outages from which throughput did not recover before the end of the run."),
    known("recovery_time.count", "recoveries", "", Neither, "Number of major outages with a recovery time."),
    known("recovery_time.mean_s", "mean recovery time", "s", Lower, "Mean time until throughput was back after a major outage."),
    known("recovery_time.median_s", "median recovery time", "s", Lower, "Median time until throughput was back after a major outage."),
    known("recovery_time.max_s", "longest recovery time", "s", Lower, "Longest time until throughput was back after a major outage."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_end_is_meant() {
        let title = |id: &str| find(id).map(|known| known.title);
        assert_eq!(title("outcomes.failed"), Some("failed jobs"));
        assert_eq!(title("churn.jobs.failed"), Some("jobs that failed with an attempt"));
        assert_eq!(title("site.delft.usage.down"), Some("processor time that was down"));
        assert_eq!(title("churn.wasted.machine_left.proc_s"), Some("wasted work"));
        assert_eq!(title("something_new"), None);
    }

    #[test]
    fn each_has_a_sentence() {
        for known in KNOWN {
            assert!(known.meaning.ends_with('.') && !known.title.is_empty(), "{}", known.ends);
        }
    }
}
