/**
 * Fields of a recorded head, as the inspector shows them. Called by the inspector and its exports. Heads were read strictly before they were
 * recorded, so lines end in CR LF and none is folded. Values are bytes: each becomes one character (latin1), so that nothing is lost.
 */
export interface ShownField {
  readonly name: string;
  readonly value: string;
}

/** What a masked value reads as. */
export const MASK = '***';

/** Credentials: shown only to those who may use them. */
const SECRETS = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);

/** Is this header one of the credentials? */
export function isSecret(name: string): boolean {
  return SECRETS.has(name.toLowerCase());
}

/** What joins values of one name, where it is no comma. */
const JOINTS: ReadonlyMap<string, string> = new Map([
  ['set-cookie', '\n'],
  ['cookie', '; '],
]);

export interface RecordedHead {
  /** Without its line end. */
  readonly startLine: string;
  readonly fields: readonly ShownField[];
}

/** The head's first line, and its fields in their order. */
export function readHead(head: Uint8Array): RecordedHead {
  const [startLine = '', ...lines] = Buffer.from(head).toString('latin1').split('\r\n');
  return { startLine, fields: fieldsIn(lines) };
}

/** Lines of trailers, each with its CR LF. */
export function readFields(lines: string): ShownField[] {
  return fieldsIn(lines.split('\r\n'));
}

function fieldsIn(lines: readonly string[]): ShownField[] {
  return lines.filter((line) => line !== '').map(fieldIn);
}

function fieldIn(line: string): ShownField {
  const colon = line.indexOf(':');
  return colon < 0
    ? { name: line, value: '' }
    : { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '') };
}

/** The same fields, with a mask in place of credentials. */
export function masked(fields: readonly ShownField[]): ShownField[] {
  return fields.map((field) => (SECRETS.has(field.name.toLowerCase()) ? { ...field, value: MASK } : field));
}

/**
 * Fields by name in lower case. Repeated ones are joined as RFC 9110 §5.2 says, by a comma and a blank; `set-cookie`, which has commas of its
 * own, by a line feed, and `cookie` by a semicolon and a blank (RFC 9113 §8.2.3).
 */
export function byName(fields: readonly ShownField[]): Record<string, string> {
  const found = new Map<string, string>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    const before = found.get(key);
    found.set(key, before === undefined ? value : `${before}${JOINTS.get(key) ?? ', '}${value}`);
  }
  return Object.fromEntries(found);
}

/** The first value of a field; undefined when it is not there. */
export function valueOf(fields: readonly ShownField[], name: string): string | undefined {
  return fields.find((field) => field.name.toLowerCase() === name)?.value;
}
