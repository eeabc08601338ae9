/**
 * Lines of a response in which a service names itself by the host and path that it was asked by: `Location`, `Content-Location`, `Refresh`, and
 * Domain and Path of `Set-Cookie`. Visitors get the public ones. Called by exchange/response.ts for tunnels that are rewritten, and for no others.
 */
import { COLON } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';
import { isDropped } from '../../policy/header-rule.ts';
import { withoutPort } from '../exchange/forwarded.ts';
import { MAX_VALUE_BYTES, type PublicOrigin, type Rewrite } from './rewrite.ts';

type Change = (value: string, rewrite: Rewrite, origin: PublicOrigin) => string | null;

const NOTHING = Buffer.alloc(0);
const CHANGES: ReadonlyArray<{ readonly word: Uint8Array; readonly change: Change }> = [
  { word: word('location'), change: (value, rewrite, origin) => rewrite.toVisitor(value, origin) },
  { word: word('content-location'), change: (value, rewrite, origin) => rewrite.toVisitor(value, origin) },
  { word: word('refresh'), change: refresh },
  { word: word('set-cookie'), change: cookie },
];

/** The lines that visitors get in place of those that are marked as left out, each with its CR LF. Call when all else is marked. */
export function responseLines(
  bytes: Buffer,
  head: Head,
  of: { readonly rewrite: Rewrite | null; readonly origin: PublicOrigin | null },
): Buffer {
  let lines = '';
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    const next = head.lines[l + 1] as number;
    const known = CHANGES.find(({ word: name }) => isNamed(bytes, line, name));
    if (known === undefined || next - line > MAX_VALUE_BYTES || isDropped(head, line)) continue;
    const text = keptText(bytes, head, line, next - 2);
    const start = known.word.length + 1;
    const changed = known.change(text.slice(start).trim(), of.rewrite as Rewrite, of.origin as PublicOrigin);
    if (changed === null) continue;
    head.drop(line, next);
    lines += `${text.slice(0, start)} ${changed}\r\n`;
  }
  return lines === '' ? NOTHING : Buffer.from(lines, 'latin1');
}

function isNamed(bytes: Buffer, line: number, name: Uint8Array): boolean {
  const end = line + name.length;
  return bytes[end] === COLON && equalsFolded(bytes, line, end, name);
}

/** A line without the spans of it that are left out, such as a cookie's Domain. */
function keptText(bytes: Buffer, head: Head, start: number, end: number): string {
  let text = '';
  let from = start;
  for (let d = 0; d < head.dropCount; d++) {
    const drop = head.drops[2 * d] as number;
    if (drop < start || drop >= end) continue;
    text += bytes.toString('latin1', from, drop);
    from = head.drops[2 * d + 1] as number;
  }
  return text + bytes.toString('latin1', from, end);
}

/** `5; url=/app/next`, with quotes or without. */
function refresh(value: string, rewrite: Rewrite, origin: PublicOrigin): string | null {
  const match = /^([\d.]+[;,] *(?:url *= *)?)(["']?)/i.exec(value);
  if (match === null) return null;
  const [start, delay = '', quote = ''] = match;
  const isClosed = quote !== '' && value.length > start.length && value.endsWith(quote);
  const url = value.slice(start.length, isClosed ? -1 : undefined);
  const changed = rewrite.toVisitor(url, origin);
  return changed === null ? null : `${delay}${quote}${changed}${isClosed ? quote : ''}`;
}

/** A cookie of the service's own name becomes one of the public host alone: without Domain, browsers send it nowhere else. */
function cookie(value: string, rewrite: Rewrite): string | null {
  const [pair = '', ...attributes] = value.split(';');
  const ownName = rewrite.host === '' ? '' : withoutPort(rewrite.host).toLowerCase();
  let isChanged = false;
  const kept: string[] = [];
  for (const attribute of attributes) {
    const equals = attribute.indexOf('=');
    const name = attribute
      .slice(0, equals < 0 ? undefined : equals)
      .trim()
      .toLowerCase();
    const text = equals < 0 ? '' : attribute.slice(equals + 1).trim();
    if (name === 'domain' && ownName !== '' && text.replace(/^\./, '').toLowerCase() === ownName) {
      isChanged = true;
      continue;
    }
    const path = name === 'path' ? rewrite.withoutPrefix(text) : null;
    if (path !== null) isChanged = true;
    kept.push(path === null ? attribute : ` Path=${path}`);
  }
  return isChanged ? [pair, ...kept].join(';') : null;
}
