//! Prints the RNTuples of a report as tables.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use lab::inspect::ntuple::report::{AttributeSetReport, Checksums, ColumnReport, FieldReport, FieldRole, NtupleReport};
use lab::inspect::report::Report;

use super::format::{memory_line, ratio, reading_line, setting, spread};
use super::rows::Top;
use crate::output::{self, bytes, count, no_room_for, percent, plural, table};

/// Columns of tables that are left out where lines would be too long, the first ones first.
const SPARE_OF_NTUPLES: [&str; 5] = ["format", "metadata", "ratio", "columns", "of file"];
const SPARE_OF_FIELDS: [&str; 10] =
    ["mean", "role", "elements", "ratio", "largest", "pages", "in memory", "encoding", "codec", "of RNTuple"];

/// Prints a row for each RNTuple, in so many columns of a terminal.
pub fn overview(out: &mut impl Write, report: &Report, width: usize) -> Result<()> {
    let columns = [
        "RNTuple",
        "format",
        ">entries",
        ">fields",
        ">columns",
        ">in memory",
        ">on disk",
        ">ratio",
        ">of file",
        ">clusters",
        ">pages",
        ">metadata",
    ];
    let mut table = table(&columns);
    for ntuple in &report.ntuples {
        let old = if ntuple.newest { String::new() } else { format!(";{} (older cycle)", ntuple.cycle) };
        table.add_row([
            format!("{}{old}", ntuple.path),
            ntuple.format.clone(),
            count(ntuple.entries),
            count(ntuple.fields.len() as u64),
            count(ntuple.columns),
            bytes(ntuple.tot_bytes),
            bytes(ntuple.zip_bytes),
            ratio(ntuple.tot_bytes, ntuple.zip_bytes),
            percent(ntuple.zip_bytes, report.file.bytes),
            count(ntuple.cluster_count),
            count(ntuple.pages),
            bytes(ntuple.metadata.bytes),
        ]);
    }
    table.fit(Some(width), &SPARE_OF_NTUPLES);
    writeln!(out, "{table}")
}

/// Prints one RNTuple with tables of so many columns of a terminal.
pub fn one(out: &mut impl Write, ntuple: &NtupleReport, top: &Top, width: usize) -> Result<()> {
    fields(out, ntuple, top, width)?;
    codecs(out, ntuple)?;
    summary(out, ntuple)
}

fn fields(out: &mut impl Write, ntuple: &NtupleReport, top: &Top, width: usize) -> Result<()> {
    let mut shown: Vec<&FieldReport> = match top {
        Top::All => ntuple.fields.iter().collect(),
        Top::Largest(_) => ntuple.fields.iter().filter(|field| !field.columns.is_empty()).collect(),
    };
    let all = shown.len();
    if let Top::Largest(n) = top {
        shown.sort_by_key(|field| std::cmp::Reverse(field.zip_bytes));
        shown.truncate(*n);
    }
    let columns = [
        "field",
        "type",
        "role",
        "=encoding",
        ">in memory",
        ">on disk",
        ">ratio",
        ">of RNTuple",
        "=codec",
        ">elements",
        ">pages",
        ">mean",
        ">largest",
    ];
    let mut table = table(&columns);
    let tree = matches!(top, Top::All);
    for field in &shown {
        table.add_row(field_row(ntuple, field, tree));
    }
    let which = if shown.len() < all {
        format!(", the largest {} of {all} fields with columns", shown.len())
    } else {
        String::new()
    };
    let hidden = no_room_for(&table.fit(Some(width), &SPARE_OF_FIELDS));
    writeln!(out, "{}{which}{hidden}\n{}", output::name(&ntuple.path), table)?;
    notes(out, &shown)
}

fn field_row(ntuple: &NtupleReport, field: &FieldReport, tree: bool) -> [String; 13] {
    let name = match field.path.rsplit_once('.') {
        Some((above, name)) if tree => {
            format!("{}{name}", "  ".repeat(above.matches('.').count() + 1))
        }
        _ => field.path.clone(),
    };
    let some = |text: String| if field.pages > 0 { text } else { String::new() };
    let pages = spread(field.columns.iter().filter_map(|column| Some((column.raw?, column.pages))));
    [
        name,
        type_text(field),
        role_text(field),
        encoding_text(&field.columns),
        some(bytes(field.tot_bytes)),
        some(bytes(field.zip_bytes)),
        ratio(field.tot_bytes, field.zip_bytes),
        some(percent(field.zip_bytes, ntuple.zip_bytes)),
        some(codec_text(&field.columns)),
        if field.columns.is_empty() { String::new() } else { count(field.elements) },
        if field.columns.is_empty() { String::new() } else { count(field.pages) },
        pages.map(|raw| bytes(raw.mean)).unwrap_or_default(),
        pages.map(|raw| bytes(raw.max)).unwrap_or_default(),
    ]
}

/// The type as text, with the alias that the source code has.
fn type_text(field: &FieldReport) -> String {
    let of = if field.type_alias.is_empty() { &field.type_name } else { &field.type_alias };
    of.clone()
}

fn role_text(field: &FieldReport) -> String {
    let role = match field.role {
        FieldRole::Leaf => "leaf",
        FieldRole::Collection => "collection",
        FieldRole::Record => "record",
        FieldRole::Variant => "variant",
        FieldRole::Streamer => "streamer",
        FieldRole::Unknown => "unknown",
    };
    let size = field.array_size.map(|n| format!("[{n}]")).unwrap_or_default();
    match &field.source {
        Some(source) => format!("shows {source}"),
        None if field.in_extension => format!("{role}{size}, added"),
        None => format!("{role}{size}"),
    }
}

/// The encodings of a field's columns, those of other representations behind a slash; a star where another representation
/// has the data of some clusters.
fn encoding_text(columns: &[ColumnReport]) -> String {
    let mut text = String::new();
    let mut before = None;
    for column in columns {
        text += match before {
            None => "",
            Some(representation) if representation == column.representation => "+",
            Some(_) => " / ",
        };
        before = Some(column.representation);
        text += &column.column_type;
        if let "Real32Trunc" | "Real32Quant" = column.column_type.as_str() {
            text += &format!(" {} bits", column.bits);
        }
        if let Some((least, most)) = column.range {
            text += &format!(" {least}..{most}");
        }
        if column.suppressed_clusters > 0 {
            text += "*";
        }
        if column.first_element.is_some() {
            text += "^";
        }
    }
    text
}

/// The settings of a field's columns, and the codecs of pages where these differ.
fn codec_text(columns: &[ColumnReport]) -> String {
    let mut settings: BTreeMap<u32, u64> = BTreeMap::new();
    for (setting, pages) in columns.iter().flat_map(|column| &column.compression) {
        *settings.entry(*setting).or_default() += pages;
    }
    settings.retain(|_, pages| *pages > 0);
    let names: Vec<String> = settings.keys().map(|s| setting(i32::try_from(*s).unwrap_or(-1))).collect();
    let stored: u64 = columns.iter().filter_map(|column| column.codecs.get("none")).sum();
    let pages: u64 = columns.iter().map(|column| column.pages).sum();
    match (names.join(", "), stored) {
        (text, 0) => text,
        (text, _) if text == "none" => text,
        (text, n) if n == pages => format!("{text} → none"),
        (text, _) => format!("{text} (none)"),
    }
}

/// The meaning of signs in the table, where it has them.
fn notes(out: &mut impl Write, shown: &[&FieldReport]) -> Result<()> {
    let columns = || shown.iter().flat_map(|field| &field.columns);
    let suppressed = columns().filter(|column| column.suppressed_clusters > 0).count() as u64;
    let deferred = columns().filter(|column| column.first_element.is_some()).count() as u64;
    if suppressed > 0 {
        let which = plural(suppressed, "column", "columns");
        writeln!(out, "* {which} suppressed in some clusters, where another representation has the data")?;
    }
    if deferred > 0 {
        let which = plural(deferred, "column", "columns");
        writeln!(out, "^ {which} deferred: added later, and zero before")?;
    }
    for field in shown {
        if let Some(reason) = &field.opaque {
            writeln!(out, "{} is not decoded: {}", output::name(&field.path), output::name(reason))?;
        }
    }
    Ok(())
}

fn codecs(out: &mut impl Write, ntuple: &NtupleReport) -> Result<()> {
    if ntuple.codecs.is_empty() {
        return Ok(());
    }
    let mut table = table(&["codec", ">pages", ">columns", ">in memory", ">on disk", ">of RNTuple"]);
    for (codec, pages) in &ntuple.codecs {
        // A column's bytes are shared out as its pages are.
        let (mut columns, mut tot, mut zip) = (0u64, 0u64, 0u64);
        for column in ntuple.fields.iter().flat_map(|field| &field.columns) {
            let all: u64 = column.codecs.values().sum();
            let Some(own) = column.codecs.get(codec).filter(|_| all > 0) else { continue };
            let part = |n: u64| u64::try_from(u128::from(n) * u128::from(*own) / u128::from(all)).unwrap_or(n);
            columns += 1;
            tot += part(column.tot_bytes);
            zip += part(column.zip_bytes);
        }
        table.add_row([
            codec.clone(),
            count(*pages),
            count(columns),
            bytes(tot),
            bytes(zip),
            percent(zip, ntuple.zip_bytes),
        ]);
    }
    writeln!(out, "\n{}", table)
}

fn summary(out: &mut impl Write, ntuple: &NtupleReport) -> Result<()> {
    writeln!(out)?;
    let mut line = format!("format: {}", ntuple.format);
    if !ntuple.writer.is_empty() {
        line += &format!(", written by {}", output::name(&ntuple.writer));
    }
    if !ntuple.features.is_empty() {
        let flags: Vec<String> = ntuple.features.iter().map(u64::to_string).collect();
        line += &format!(", feature flags {}", flags.join(", "));
    }
    writeln!(out, "{line}")?;
    if !ntuple.description.is_empty() {
        writeln!(out, "description: {}", output::name(&ntuple.description))?;
    }
    writeln!(out, "{}", fields_line(ntuple))?;
    let n = ntuple.cluster_count;
    writeln!(
        out,
        "clusters: {} in {}, {} and {} on average, the largest {}",
        count(n),
        plural(ntuple.cluster_groups, "group", "groups"),
        plural(ntuple.entries / n.max(1), "entry", "entries"),
        bytes(ntuple.zip_bytes / n.max(1)),
        bytes(ntuple.largest_cluster)
    )?;
    writeln!(out, "{}", pages_line(ntuple))?;
    writeln!(
        out,
        "metadata: header {} ({} in memory), footer {} ({}), page lists {} ({})",
        bytes(ntuple.header.bytes),
        bytes(ntuple.header.raw_bytes),
        bytes(ntuple.footer.bytes),
        bytes(ntuple.footer.raw_bytes),
        bytes(ntuple.page_lists.bytes),
        bytes(ntuple.page_lists.raw_bytes)
    )?;
    writeln!(out, "{}", memory_line(&ntuple.memory, "columns", "pages"))?;
    reading_line(out, ntuple.read_time, "")?;
    for set in &ntuple.attribute_sets {
        writeln!(out, "{}", attributes_line(set))?;
    }
    Ok(())
}

fn fields_line(ntuple: &NtupleReport) -> String {
    let mut line = format!("fields: {}, {} at the top", count(ntuple.fields.len() as u64), count(ntuple.top_fields));
    let parts = [
        (ntuple.projected_fields, "projected"),
        (ntuple.streamer_fields, "of streamed objects"),
        (ntuple.alternative_fields, "with several representations"),
        (ntuple.extension_fields, "added by a schema extension"),
    ];
    for (n, which) in parts.into_iter().filter(|(n, _)| *n > 0) {
        line += &format!(", {} {which}", count(n));
    }
    line += &format!("; {}", plural(ntuple.columns, "column", "columns"));
    if ntuple.extension_columns > 0 {
        line += &format!(", {} added by a schema extension", count(ntuple.extension_columns));
    }
    line
}

fn pages_line(ntuple: &NtupleReport) -> String {
    let mut line = format!("pages: {}", count(ntuple.pages));
    let columns = || ntuple.fields.iter().flat_map(|field| &field.columns);
    let sizes = spread(columns().filter_map(|column| Some((column.disk?, column.pages))));
    let raw = spread(columns().filter_map(|column| Some((column.raw?, column.pages))));
    if let (Some(sizes), Some(raw)) = (sizes, raw) {
        line += &format!(
            ", {} in memory and {} on disk on average, {} to {}",
            bytes(raw.mean),
            bytes(sizes.mean),
            bytes(sizes.min),
            bytes(sizes.max)
        );
    }
    if ntuple.shared_pages > 0 {
        let n = plural(ntuple.shared_pages, "page shares", "pages share");
        line += &format!("; {n} the bytes of others, which count once");
    }
    if ntuple.pages_elsewhere > 0 {
        line += &format!("; {} in other storage than the file", count(ntuple.pages_elsewhere));
    }
    line += match ntuple.checksums {
        _ if ntuple.pages == 0 => "",
        Checksums::All => "; all with checksums",
        Checksums::None => "; none with a checksum",
        Checksums::Some => "; only some with checksums",
    };
    line
}

fn attributes_line(set: &AttributeSetReport) -> String {
    let name = output::name(&set.name);
    let content = match (set.entries, set.top_fields) {
        (Some(entries), Some(fields)) => {
            format!("{}, {}", plural(entries, "entry", "entries"), plural(fields, "field", "fields"))
        }
        _ => format!("cannot be read: {}", output::name(&set.reason)),
    };
    format!("attribute set {name} (schema {}): {content}", set.schema_version)
}
