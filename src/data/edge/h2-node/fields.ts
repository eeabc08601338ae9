/** Fields between HTTP/1.1 and HTTP/2: which the second does not have, and lines as the list that node:http2 takes. */

/** Of one connection (RFC 9113 §8.2.2). `te` is judged where requests are read. */
export const FORBIDDEN_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Adds the line `Name: value` (without line end) to `list`, lower-cased; not when HTTP/2 has no such field. Answers the bytes added. */
export function addLine(line: string, list: string[]): number {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon).toLowerCase();
  if (FORBIDDEN_FIELDS.has(name) || name === 'te') return 0;
  const value = trimmed(line, colon + 1);
  list.push(name, value);
  return name.length + value.length;
}

/** What follows `from` without the blanks around it: to nghttp2 they would be part of the value. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
