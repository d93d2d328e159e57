//! The page as HTML.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::{Report, ReportError, Section, Table};
use crate::report::charts::{Paint, Theme, classes, variables};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    subtitle: &'a str,
    version: &'static str,
    /// `light`, `dark`, or nothing.
    theme: &'static str,
    style: String,
    script: &'static str,
    sections: Vec<DrawnSection<'a>>,
}

#[derive(Serialize)]
struct DrawnSection<'a> {
    id: String,
    title: &'a str,
    lead: &'a [String],
    tables: &'a [Table],
    rows: Vec<Vec<DrawnFigure<'a>>>,
}

#[derive(Serialize)]
struct DrawnFigure<'a> {
    number: usize,
    name: &'a str,
    caption: &'a str,
    svg: String,
}

pub(super) fn page(report: &Report) -> Result<String, ReportError> {
    let mut number = 0;
    let sections = report.sections.iter().enumerate();
    let sections = sections
        .map(|(at, section)| drawn(at, section, &mut number))
        .collect::<Result<Vec<DrawnSection<'_>>, ReportError>>()?;
    let theme = match report.theme {
        None => "",
        Some(Theme::Light) => "light",
        Some(Theme::Dark) => "dark",
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    let template = environment.template_from_str(PAGE)?;
    let style = format!(
        ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n:root[data-theme=dark]{{{dark}}}\n{}\n{STYLE}",
        variables(Theme::Light),
        classes(),
        dark = variables(Theme::Dark),
    );
    let page = Page {
        title: &report.title,
        subtitle: &report.subtitle,
        version: env!("CARGO_PKG_VERSION"),
        theme,
        style,
        script: SCRIPT,
        sections,
    };
    Ok(template.render(Serde(page))?)
}

fn drawn<'a>(at: usize, section: &'a Section, number: &mut usize) -> Result<DrawnSection<'a>, ReportError> {
    let mut rows: Vec<Vec<DrawnFigure<'a>>> = Vec::new();
    for figure in &section.figures {
        *number += 1;
        let drawn = DrawnFigure {
            number: *number,
            name: &figure.name,
            caption: &figure.caption,
            svg: figure.chart.svg(Paint::Page)?,
        };
        let beside = usize::from(figure.beside.max(1));
        match rows.last_mut().filter(|row| beside > 1 && row.len() < beside) {
            Some(row) => row.push(drawn),
            None => rows.push(vec![drawn]),
        }
    }
    Ok(DrawnSection {
        id: format!("s{}", at + 1),
        title: &section.title,
        lead: &section.lead,
        tables: &section.tables,
        rows,
    })
}
