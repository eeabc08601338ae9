/** `export.otlp.headers_file`: a header field per line, as `Name: value`; `#` begins a comment. Read for each request, so that a new key counts at once. */
import { readFile } from 'node:fs/promises';

const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]+?)[ \t]*$/;

/** Throws what is wrong with the file. */
export async function readHeaders(file: string | null): Promise<Record<string, string>> {
  if (file === null) return {};
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/);
  const headers: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new Error(`${file}:${index + 1} (export.otlp.headers_file) must be a line like "Authorization: Bearer …"`);
    headers[name] = value;
  }
  return headers;
}
