/** The page of a folder without an index.html: names, sizes, dates. No script, no file besides; light or dark as the visitor's system is. */
import type { BigIntStats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Found, findIn } from './find.ts';
import { isHidden, isSafeName } from './url-path.ts';

/** Of a larger folder the first in the order of the disk are shown, and the page says so. */
const MAX_ENTRIES = 1_000;

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number;
  readonly modifiedMs: number;
}

/** The page of the folder that `names` lead to. */
export async function listingPage(root: string, names: readonly string[], found: Found): Promise<string> {
  const { entries, isWhole } = await entriesOf(root, names, found);
  const title = `/${names.map((name) => `${name}/`).join('')}`;
  const up = names.length === 0 ? '' : row({ href: '../', text: '../', size: '', date: '' });
  const more = isWhole ? '' : `<p>Only ${MAX_ENTRIES} entries are shown.</p>`;
  return page(escaped(title), `${up}${entries.map(entryRow).join('')}`, more);
}

async function entriesOf(
  root: string,
  names: readonly string[],
  found: Found,
): Promise<{ entries: Entry[]; isWhole: boolean }> {
  const entries: Entry[] = [];
  let isWhole = true;
  for await (const item of await opendir(found.path)) {
    const { name } = item;
    if (!isSafeName(name) || isHidden([...names, name])) continue;
    if (entries.length === MAX_ENTRIES) {
      isWhole = false;
      break;
    }
    // A link counts by where it leads to; all else is inside, as the folder is.
    const known = item.isSymbolicLink() ? undefined : await statsOf(join(found.path, name));
    const stats = known ?? (await findIn(root, [...names, name]))?.stats;
    const entry = entryOf(name, stats);
    if (entry !== undefined) entries.push(entry);
  }
  entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || a.name.localeCompare(b.name, 'en'));
  return { entries, isWhole };
}

/** Undefined: a request for it would not find it either, such as a link that leads outside. */
function entryOf(name: string, stats: BigIntStats | undefined): Entry | undefined {
  if (stats === undefined || !(stats.isDirectory() || stats.isFile())) return undefined;
  return { name, isFolder: stats.isDirectory(), size: Number(stats.size), modifiedMs: Number(stats.mtimeMs) };
}

/** Undefined: it went away meanwhile, or this user may not look at it. */
async function statsOf(path: string): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined);
}

function entryRow({ name, isFolder, size, modifiedMs }: Entry): string {
  const end = isFolder ? '/' : '';
  return row({
    // With ./ in front a name with a colon is no scheme.
    href: `./${encodeURIComponent(name)}${end}`,
    text: escaped(name) + end,
    size: isFolder ? '' : sizeText(size),
    date: new Date(modifiedMs).toISOString().slice(0, 16).replace('T', ' '),
  });
}

function row({ href, text, size, date }: Record<'href' | 'text' | 'size' | 'date', string>): string {
  return `<tr><td><a href="${escaped(href)}">${text}</a></td><td>${size}</td><td>${date}</td></tr>\n`;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] as string);
}

export function page(title: string, rows: string, more: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td:first-child { overflow-wrap: anywhere; }
td + td { white-space: nowrap; font-variant-numeric: tabular-nums; opacity: 0.75; }
</style>
</head>
<body>
<h1>${title}</h1>
<table>
<thead><tr><th scope="col">Name</th><th scope="col">Size</th><th scope="col">Changed (UTC)</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
${more}</body>
</html>
`;
}
