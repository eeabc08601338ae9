/** Lines of the access log: JSON with every field, or the combined format of Apache and nginx. */
import { accessFields } from '../../plane/access-fields.ts';
import type { AccessEntry } from '../../plane/access-log.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** The line of an entry, with its line feed; '' where the format has none for it. */
export type LineOf = (entry: AccessEntry) => string;

export function jsonLine(entry: AccessEntry): string {
  return `${JSON.stringify(accessFields(entry))}\n`;
}

/** `%h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-agent}i"`. Connections of `tcp` tunnels have no place in it. */
export function combinedLine(entry: AccessEntry): string {
  if (entry.kind === 'tcp') return '';
  const request = `${entry.method} ${entry.target} HTTP/${entry.httpVersion === '2' ? '2.0' : entry.httpVersion}`;
  // As nginx says of a visitor that left before it had a response.
  const status = entry.status === 0 ? 499 : entry.status;
  return `${entry.remoteIp} - - [${clockTime(entry.at)}] "${escaped(request)}" ${status} ${entry.bytesOut} "${orDash(entry.referer)}" "${orDash(entry.userAgent)}"\n`;
}

/** UTC, as all times of the server. */
function clockTime(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  return `${day}:${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
}

function orDash(text: string): string {
  return text === '' ? '-' : escaped(text);
}

/** As nginx escapes, so that no visitor can end a field or a line. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
  return text.replace(
    /["\\\u0000-\u001f\u007f-\u00ff]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
