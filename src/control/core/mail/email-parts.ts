/**
 * The parts of emails, as plain text and as HTML. The HTML loads nothing from anywhere; everything in it is escaped.
 */
export type Part =
  | { readonly kind: 'say'; readonly text: string }
  /** Stands alone on its line. */
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'link'; readonly url: string; readonly label: string };

export const say = (text: string): Part => ({ kind: 'say', text });

/** The first 64 characters, none of them halved. */
const MAX_NAME = /^.{0,64}/u;
const MAX_LINE = /^.{0,400}/u;

/**
 * A name that a user chose, as part of one line: no line breaks, no control characters, none that turn the direction of writing. Without
 * "://", which mail programs make links of.
 */
export function plain(name: string): string {
  return oneLine(name, MAX_NAME);
}

/** The same of a sentence with such names in it. */
export function plainLine(text: string): string {
  return oneLine(text, MAX_LINE);
}

function oneLine(text: string, most: RegExp): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('://', ' ')
    .trim();
  const start = most.exec(line)?.[0] ?? '';
  return start === line ? line : `${start}…`;
}

/** An empty line between parts. */
export function asText(parts: readonly Part[]): string {
  return `${parts.map(lineOf).join('\n\n')}\n`;
}

function lineOf(part: Part): string {
  if (part.kind === 'say') return part.text;
  return part.kind === 'code' ? part.code : part.url;
}

const PAGE_STYLE = 'font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;max-width:36em;margin:24px auto;padding:0 16px';
const CODE_STYLE = 'font:700 28px/1.5 ui-monospace,monospace;letter-spacing:4px';
const LINK_STYLE = 'font-size:13px;color:#555;word-break:break-all';

/** A whole document. */
export function asPage(subject: string, parts: readonly Part[]): string {
  const head = `<meta charset="utf-8"><title>${escapeHtml(subject)}</title>`;
  return `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body style="${PAGE_STYLE}">\n${parts.map(asHtml).join('\n')}\n</body></html>\n`;
}

function asHtml(part: Part): string {
  if (part.kind === 'say') return `<p>${escapeHtml(part.text)}</p>`;
  if (part.kind === 'code') return `<p style="${CODE_STYLE}">${escapeHtml(part.code)}</p>`;
  const url = escapeHtml(part.url);
  return `<p><a href="${url}">${escapeHtml(part.label)}</a></p>\n<p style="${LINK_STYLE}">${url}</p>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
