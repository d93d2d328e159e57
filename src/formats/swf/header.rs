//! The header comments of a log.

/// Labels of the standard: these are recognised even without a blank after the colon.
const KNOWN: [&str; 26] = [
    "Version",
    "Computer",
    "Installation",
    "Acknowledge",
    "Information",
    "Conversion",
    "MaxJobs",
    "MaxRecords",
    "Preemption",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "StartTime",
    "EndTime",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "MaxMemory",
    "AllowOveruse",
    "MaxQueues",
    "Queues",
    "Queue",
    "MaxPartitions",
    "Partitions",
    "Partition",
    "Note",
];

/// The most bytes of header comments that are kept.
const MOST: usize = 1 << 20;

/// The header of a log. Every label is optional, and some logs have no header at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Label, value, line.
    pairs: Vec<(String, String, u64)>,
    /// How many bytes it has been made of.
    bytes: usize,
}

impl Header {
    /// Adds comment line number `number` (with its `;`). A line without a label continues the value before it, on a
    /// new line. Behind the first mebibyte no comment is kept.
    pub(super) fn add(&mut self, number: u64, line: &[u8]) {
        self.bytes = self.bytes.saturating_add(line.len());
        if self.bytes > MOST {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim().trim_start_matches(';').trim();
        if let Some((label, value)) = label(text) {
            self.pairs.push((label.to_owned(), value.trim().to_owned(), number));
        } else if let Some((_, value, _)) = self.pairs.last_mut().filter(|_| !text.is_empty()) {
            if !value.is_empty() {
                value.push('\n');
            }
            value.push_str(text);
        }
    }

    /// All labels with their values as written, in order; a label may occur several times (`Note`, `Queue`).
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(label, value, _)| (label.as_str(), value.as_str()))
    }

    /// The values of a label, ignoring case.
    pub fn all<'a>(&'a self, label: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs().filter(move |(written, _)| written.eq_ignore_ascii_case(label)).map(|(_, value)| value)
    }

    /// The first value of a label, ignoring case.
    pub fn get(&self, label: &str) -> Option<&str> {
        self.with_line(label).map(|(value, _)| value)
    }

    /// The first value of a label, and its line.
    pub fn with_line(&self, label: &str) -> Option<(&str, u64)> {
        let found = self.pairs.iter().find(|(written, _, _)| written.eq_ignore_ascii_case(label))?;
        Some((&found.1, found.2))
    }

    /// The number at the beginning of the value of a label: `1664 (72, 1368, 224)` is 1664, `N/A` is `None`.
    pub fn integer(&self, label: &str) -> Option<i64> {
        let value = self.get(label)?;
        let digits = value.strip_prefix('-').unwrap_or(value);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        value[..value.len() - digits.len() + end].parse().ok()
    }

    /// Processors of the machine (`MaxProcs`), over all partitions.
    pub fn max_procs(&self) -> Option<u32> {
        let count = self.integer("MaxProcs").and_then(|count| u32::try_from(count).ok());
        count.filter(|count| *count > 0)
    }

    /// Jobs in the original log (`MaxJobs`). A cleaned log has fewer rows than that.
    pub fn max_jobs(&self) -> Option<u64> {
        self.integer("MaxJobs").and_then(|count| u64::try_from(count).ok())
    }

    /// The begin of the log in seconds since 1970 (`UnixStartTime`): the instant 0 of its submission times.
    pub fn unix_start(&self) -> Option<i64> {
        self.integer("UnixStartTime")
    }

    /// The name of the machine (`Computer`).
    pub fn computer(&self) -> Option<&str> {
        self.get("Computer")
    }
}

/// Splits `Label: value`. Continued text may contain a colon too (`http://...`), so an unknown word needs a blank
/// after the colon to be a label.
fn label(text: &str) -> Option<(&str, &str)> {
    let (label, value) = text.split_once(':')?;
    let label = label.trim_end();
    let is_word = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_known = KNOWN.iter().any(|known| known.eq_ignore_ascii_case(label));
    (is_word && (is_known || value.is_empty() || value.starts_with([' ', '\t']))).then_some((label, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        let mut header = Header::default();
        (1..).zip(text.lines()).for_each(|(number, line)| header.add(number, line.as_bytes()));
        header
    }

    #[test]
    fn labels_are_found_however_they_are_set() {
        let header = header(
            ";     Acknowledge: Emmanuel Medernach\n;Computer:Compaq DS10L\n; MaxProcs: 1664 (72, 1368, 224)\n\
             ; UnixStartTime: 1078605840\n;AllowOveruse: yes\n;MaxRuntime: N/A\n; MaxNodes: 70  (dual)\n\
             ; maxjobs:   12\n; Queue: 1 a\n; Queue: 2 b\n",
        );
        assert_eq!(header.get("Acknowledge"), Some("Emmanuel Medernach"));
        assert_eq!(header.computer(), Some("Compaq DS10L"));
        assert_eq!(header.max_procs(), Some(1664));
        assert_eq!(header.integer("MaxNodes"), Some(70));
        assert_eq!(header.max_jobs(), Some(12));
        assert_eq!(header.unix_start(), Some(1_078_605_840));
        assert_eq!((header.get("AllowOveruse"), header.integer("MaxRuntime")), (Some("yes"), None));
        assert_eq!(header.all("Queue").collect::<Vec<_>>(), ["1 a", "2 b"]);
    }

    #[test]
    fn continued_lines_belong_to_the_label_before() {
        let header = header("; Information: first\n;    http://www.example.org/\n;\n; Note: x");
        assert_eq!(header.get("information"), Some("first\nhttp://www.example.org/"));
        assert_eq!(header.pairs().count(), 2);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut header = Header::default();
        let line = format!("; Note: {}", "x".repeat(92));
        (1..=100_000).for_each(|number| header.add(number, line.as_bytes()));
        assert_eq!(header.pairs().count(), MOST / 100);
        header.add(u64::MAX, b"; Note: x");
        assert_eq!(header.pairs().count(), MOST / 100);
    }

    #[test]
    fn nonsense_is_no_header() {
        assert_eq!(header("; no label here\n;\n;;;\n: x").pairs().count(), 0);
        assert_eq!(header("; MaxProcs: -5").max_procs(), None);
        assert_eq!(header("; MaxProcs: 99999999999999999999").max_procs(), None);
    }
}
