//! The report as an HTML page.

use std::fmt::{self, Display, Write as _};

use super::{Figure, Look, Report, Section, Table};
use crate::report::charts::{Axis, Paint, Theme, classes, variables};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn page(report: &Report) -> String {
    let (title, subtitle) = (Text(&report.title), Text(&report.subtitle));
    let theme = match report.theme {
        None => "",
        Some(Theme::Light) => " data-theme=\"light\"",
        Some(Theme::Dark) => " data-theme=\"dark\"",
    };
    let (light, dark, classes) = (variables(Theme::Light), variables(Theme::Dark), classes());
    let mut out = format!(
        r#"<!DOCTYPE html>
<html lang="en"{theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="gridemu {VERSION}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
:root{{{light}}}
@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}
:root[data-theme=dark]{{{dark}}}
{classes}
{STYLE}
</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="sub">{subtitle}</p>
<nav>
"#
    );
    for (number, section) in (1..).zip(&report.sections) {
        out += &format!("<a href=\"#s{number}\">{}</a>\n", Text(&section.title));
    }
    out += "<button type=\"button\" id=\"theme\" hidden>Dark</button>\n</nav>\n</header>\n<main>\n";
    let mut figures = 1;
    for (number, part) in (1..).zip(&report.sections) {
        out += &format!("<section id=\"s{number}\">\n<h2>{}</h2>\n", Text(&part.title));
        section(&mut out, part, &mut figures);
        out += "</section>\n";
    }
    out + &format!(
        "</main>\n<footer>Made by gridemu {VERSION}. This page loads nothing from anywhere.</footer>\n\
         <script>\nconst UNITS = {};\n{SCRIPT}\n</script>\n</body>\n</html>",
        Axis::time_units()
    )
}

fn section(out: &mut String, section: &Section, number: &mut usize) {
    out.extend(section.lead.iter().map(|paragraph| format!("<p>{}</p>\n", Prose(paragraph))));
    out.extend(section.tables.iter().map(table));
    if !section.notes.is_empty() {
        *out += &format!("<p class=\"notes\">{}</p>\n", Prose(&section.notes.join(" ")));
    }
    let mut rows: Vec<Vec<&Figure>> = Vec::new();
    for figure in &section.figures {
        let beside = usize::from(figure.beside.max(1));
        match rows.last_mut().filter(|row| beside > 1 && row.len() < beside) {
            Some(row) => row.push(figure),
            None => rows.push(vec![figure]),
        }
    }
    for row in rows {
        *out += "<div class=\"row\">\n";
        for figure in row {
            let (name, caption) = (Text(&figure.name), Text(&figure.caption));
            let svg = figure.chart.svg(Paint::Page);
            let caption = format!("<figcaption><b>Figure {number}.</b> {caption}</figcaption>");
            *out += &format!("<figure id=\"{name}\">\n{svg}\n{caption}\n</figure>\n");
            *number += 1;
        }
        *out += "</div>\n";
    }
}

fn table(table: &Table) -> String {
    if table.look == Look::Tiles {
        let cells = table.head.iter().zip(table.rows.iter().flatten());
        let tile = |(title, value): (&String, &String)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", Text(title), Text(value))
        };
        return format!("<dl class=\"tiles\">\n{}</dl>\n", cells.map(tile).collect::<String>());
    }
    let class = match table.look {
        Look::Text | Look::Tiles => "",
        Look::Numbers => " class=\"numbers\"",
        Look::Total => " class=\"numbers total\"",
    };
    let mut out = format!("<div class=\"table\"><table{class}>\n");
    if !table.caption.is_empty() {
        out += &format!("<caption>{}</caption>\n", Text(&table.caption));
    }
    if !table.head.is_empty() {
        let cells: String =
            table.head.iter().map(|cell| format!("<th scope=\"col\">{}</th>", Text(cell))).collect();
        out += &format!("<thead><tr>{cells}</tr></thead>\n");
    }
    out += "<tbody>\n";
    for row in &table.rows {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("<th scope=\"row\">{}</th>", Text(cell)),
            _ => format!("<td>{}</td>", Text(cell)),
        });
        out += &format!("<tr>{}</tr>\n", cells.collect::<String>());
    }
    out + "</tbody>\n</table></div>\n"
}

/// Sentences in which what is between backticks is code.
struct Prose<'a>(&'a str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.split('`').enumerate() {
            match at % 2 {
                0 => write!(f, "{}", Text(part))?,
                _ => write!(f, "<code>{}</code>", Text(part))?,
            }
        }
        Ok(())
    }
}

/// Text with the special characters of HTML escaped.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|sign| match sign {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#x27;"),
            '/' => f.write_str("&#x2f;"),
            sign => f.write_char(sign),
        })
    }
}
