/**
 * Brings a response head that the strict parser (head.ts) refuses into its strict form, where RFC 9112 leaves one meaning: lines
 * that all end in LF (§2.2), folded fields (§5.2), a repeated Content-Length of one value (§6.3). The caller parses the result.
 * Heads that two readers could read differently stay refused. Reasons: docs/decisions/0002-http1-parser.md.
 */
import { CR, LF, SPACE, TAB } from './chars.ts';
import { BAD, type Head, INCOMPLETE, TOO_LARGE, TOO_MANY_FIELDS } from './head.ts';

const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade', 'keep-alive', 'trailer']);

const STATUS_LINE = /^HTTP\/1\.[01] \d{3}(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** Or one that goes on with the field before. */
const FIELD_LINE = /^(?:[ \t]|[!#$%&'*+\-.^_`|~0-9A-Za-z]+:)[\t\x20-\x7e\x80-\xff]*$/;

interface Lines {
  readonly texts: string[];
  readonly end: number;
}

/** A head in its strict form. */
export interface NormalHead {
  /** The head, and nothing behind it. */
  readonly bytes: Buffer;
  /** Where the head that the service has sent ends. */
  readonly end: number;
}

/** The head at `bytes[start, end)` in its strict form; or INCOMPLETE, BAD or TOO_LARGE, with a reason in `head`, whose bounds hold. */
export function normalResponseHead(bytes: Buffer, start: number, end: number, head: Head): NormalHead | number {
  const lines = linesOf(bytes, start, end, head);
  if (typeof lines === 'number') return lines;
  const [status = '', ...rest] = lines.texts;
  const whole = unfolded(rest, head);
  const fields = whole === null ? null : withOneLength(whole, head);
  if (fields === null) return BAD;
  return { bytes: Buffer.from(`${[status, ...fields].join('\r\n')}\r\n\r\n`, 'latin1'), end: lines.end };
}

/** The lines of a head without their ends, up to the empty one; checked as they come, so that what can't become a head is refused at once. */
function linesOf(bytes: Buffer, start: number, end: number, head: Head): Lines | number {
  const whole = bytes.subarray(start, end);
  const texts: string[] = [];
  let isBare: boolean | null = null;
  for (let from = 0; ; ) {
    const lf = whole.indexOf(LF, from);
    if (lf >= head.maxBytes || (lf < 0 && whole.length > head.maxBytes)) return tooLarge(head, '');
    // Before the first line end it is for the strict parser to say what is wrong.
    if (lf < 0) return isBare === null ? BAD : INCOMPLETE;
    const hasCr = lf > from && whole[lf - 1] === CR;
    isBare ??= !hasCr;
    if (isBare === hasCr) return bad(head, 'mixed line endings, CR LF and LF');
    const text = whole.toString('latin1', from, hasCr ? lf - 1 : lf);
    if (text === '') return texts.length === 0 ? bad(head, 'invalid status line') : { texts, end: start + lf + 1 };
    if (!(texts.length === 0 ? STATUS_LINE : FIELD_LINE).test(text)) return bad(head, head.reason);
    texts.push(text);
    // Folds count too: each costs as much to look at as a field.
    if (texts.length > head.maxFields + 1) return tooLarge(head, TOO_MANY_FIELDS);
    from = lf + 1;
  }
}

/** Each folded line behind the one that it goes on, with a space between (RFC 9112 §5.2); null when that is not clear. */
function unfolded(lines: readonly string[], head: Head): string[] | null {
  const out: string[] = [];
  for (const line of lines) {
    const first = line.charCodeAt(0);
    if (first !== SPACE && first !== TAB) {
      out.push(line);
      continue;
    }
    const more = line.replace(/^[ \t]+/, '');
    const before = out.at(-1);
    if (before === undefined || more === '') return refused(head, 'white space at the start of a header line');
    if (FRAMING.has(nameOf(before))) return refused(head, `a folded field that frames the message (${nameOf(before)})`);
    out[out.length - 1] = `${before.replace(/[ \t]+$/, '')} ${more}`;
  }
  return out;
}

/** With one Content-Length in place of several that say the same; null when they differ. */
function withOneLength(fields: readonly string[], head: Head): string[] | null {
  const isLength = (line: string): boolean => nameOf(line) === 'content-length';
  const values = fields.filter(isLength).flatMap((line) => line.slice(line.indexOf(':') + 1).split(','));
  const [length, ...others] = new Set(values.map((value) => value.replace(/^[ \t]+|[ \t]+$/g, '')));
  if (length === undefined) return [...fields];
  if (others.length > 0) return refused(head, 'content-length fields with different values');
  if (!/^\d{1,15}$/.test(length)) return refused(head, 'invalid content-length');
  const first = fields.findIndex(isLength);
  return fields.flatMap((line, i) => (!isLength(line) ? [line] : i === first ? [`Content-Length: ${length}`] : []));
}

function nameOf(line: string): string {
  const colon = line.indexOf(':');
  return line.slice(0, Math.max(0, colon)).toLowerCase();
}

function bad(head: Head, reason: string): number {
  head.reason = reason;
  return BAD;
}

function refused(head: Head, reason: string): null {
  head.reason = reason;
  return null;
}

function tooLarge(head: Head, reason: string): number {
  head.reason = reason;
  return TOO_LARGE;
}
