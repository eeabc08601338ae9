/** A file for a browser, packed with gzip and with Brotli as the server sends it (control/web/built-files.ts). Used by the builds of dashboard and documentation. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
};

/** Writes `name.gz` and `name.br` into `folder`; returns the file's type and sizes. */
export async function packFile(folder, name, bytes) {
  const [gzipped, brotlied] = await Promise.all([zip(bytes, { level: 9 }), brotli(bytes, BROTLI)]);
  writeFileSync(join(folder, `${name}.gz`), gzipped);
  writeFileSync(join(folder, `${name}.br`), brotlied);
  const type = TYPES[name.split('.').pop()] ?? 'text/plain; charset=utf-8';
  return { type, bytes: bytes.length, gzip: gzipped.length, brotli: brotlied.length };
}
