/**
 * docs/*.md and src/docs-site → OUT/docs: what the server serves below `/docs/` (control/web/docs-routes.ts), each file packed once with gzip and
 * with Brotli, and a list of them. Called by build.mjs.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { searchIndex, siteDocuments } from './docs/site.ts';
import { packFile } from './pack-file.mjs';

const root = join(import.meta.dirname, '..');
const FOLDER = 'docs';

/** Returns `{ 'docs/<file>': path }` for the assets of an executable. `out` is there already; `note` gets what esbuild read. */
export async function buildDocs(out, note) {
  const work = mkdtempSync(join(out, '.docs-'));
  try {
    const files = {};
    const add = async (name, text) => {
      files[name] = await packFile(work, name, Buffer.from(text));
    };
    const named = async (name, text) => {
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
      const full = name.replace('.', `-${hash}.`);
      await add(full, text);
      return full;
    };
    const assets = {
      style: await named('site.css', await bundle('src/docs-site/site.css', note)),
      script: await named('site.js', await bundle('src/docs-site/site.ts', note)),
      index: await named('search.json', JSON.stringify(searchIndex())),
    };
    const documents = siteDocuments(assets);
    for (const [slug, text] of documents) await add(`${slug === '' ? 'index' : slug}.html`, text);
    const list = { pages: [...documents.keys()], files };
    writeFileSync(join(work, 'files.json'), JSON.stringify(list, null, 2));
    return moveIntoPlace(work, join(out, FOLDER), documents.size);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function bundle(entry, note) {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022'],
    minify: true,
    metafile: true,
    write: false,
    tsconfig: join(root, 'src/docs-site/tsconfig.json'),
    logLevel: 'warning',
  });
  note(metafile);
  return outputFiles[0].text;
}

function moveIntoPlace(work, folder, count) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of readdirSync(work)) renameSync(join(work, name), join(folder, name));
  const packed = readdirSync(folder).filter((name) => name.endsWith('.br'));
  const bytes = packed.reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);
  console.log(`${folder}: ${count} pages, ${(bytes / 1000).toFixed(0)} KB by Brotli`);
  return Object.fromEntries(readdirSync(folder).map((name) => [`${FOLDER}/${name}`, join(folder, name)]));
}
