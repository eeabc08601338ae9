/**
 * src/dashboard → OUT/dashboard: what the server serves below `/app/` (control/web/dashboard-files.ts), each file packed once with gzip and
 * with Brotli, named after its content, and a list of them. Called by build.mjs; alone: `node scripts/build.mjs --dashboard`.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { packFile } from './pack-file.mjs';

const root = join(import.meta.dirname, '..');
const FOLDER = 'dashboard';

/** Returns `{ 'dashboard/<file>': path }` for the assets of an executable. `out` is there already; `note` gets what esbuild read. */
export async function buildDashboard(out, note) {
  const work = mkdtempSync(join(out, '.dashboard-'));
  try {
    const { metafile, outputFiles } = await build({
      entryPoints: [join(root, 'src/dashboard/start.ts'), join(root, 'src/dashboard/main.tsx')],
      outdir: join(work, 'assets'),
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      target: ['es2022'],
      jsx: 'automatic',
      minify: true,
      legalComments: 'linked', // licences of what is inside stay with it
      define: { 'process.env.NODE_ENV': '"production"' },
      tsconfig: join(root, 'src/dashboard/tsconfig.json'),
      metafile: true,
      write: false,
      logLevel: 'warning',
    });
    note(metafile);
    const files = {};
    for (const { path, contents } of outputFiles) {
      const name = basename(path);
      files[name] = await packFile(work, name, Buffer.from(contents));
    }
    const list = { ...entryOf(metafile), files };
    writeFileSync(join(work, 'files.json'), JSON.stringify(list, null, 2));
    return moveIntoPlace(work, join(out, FOLDER), list);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * What the document names: the script that begins at once, the one that draws, its sheet, and what that begins with, so that a browser fetches all of
 * it together; and what the page of each address needs besides.
 */
function entryOf({ outputs }) {
  const made = (source) => Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source);
  const [path, { cssBundle }] = made('src/dashboard/main.tsx');
  const first = importsOf(outputs, path);
  const pages = pagesIn(readFileSync(join(root, 'src/dashboard/pages.ts'), 'utf8')).map(({ source, ...page }) => {
    const [name] = made(source);
    const needed = [name, ...importsOf(outputs, name)].filter((file) => file !== path && !first.has(file));
    return { ...page, files: needed.map((file) => basename(file)) };
  });
  const [start] = made('src/dashboard/start.ts');
  return {
    start: basename(start),
    script: basename(path),
    style: basename(cssBundle),
    preload: [...first].filter((file) => file !== start).map((file) => basename(file)),
    pages,
  };
}

/** The table of pages: `page('/tunnels', async () => (await import('./pages/…`. */
function pagesIn(table) {
  const rows = [...table.matchAll(/\b(page|open)\(\s*'([^']+)',\s*async \(\) =>\s*\(await import\('\.\/([^']+)'\)\)/g)];
  const imports = table.match(/\bimport\('/g)?.length ?? 0;
  if (rows.length === 0 || rows.length !== imports) throw new Error('pages.ts: its table is not written as it was');
  return rows.map(([, kind, path, file]) => ({ path, open: kind === 'open', source: `src/dashboard/${file}` }));
}

/** What is fetched together with a file. */
function importsOf(outputs, path) {
  const found = new Set();
  const follow = (name) => {
    for (const { path: next, kind } of outputs[name].imports) {
      if (kind !== 'import-statement' || found.has(next)) continue;
      found.add(next);
      follow(next);
    }
  };
  follow(path);
  return found;
}

function moveIntoPlace(work, folder, list) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of readdirSync(work)) {
    if (name !== 'assets') renameSync(join(work, name), join(folder, name));
  }
  const entry = [list.start, list.script, list.style, ...list.preload].map((name) => list.files[name]);
  const sum = (key) => (entry.reduce((all, file) => all + file[key], 0) / 1000).toFixed(0);
  console.log(
    `${folder}: first load ${sum('brotli')} KB by Brotli, ${sum('gzip')} KB by gzip (${sum('bytes')} KB plain)`,
  );
  return Object.fromEntries(readdirSync(folder).map((name) => [`${FOLDER}/${name}`, join(folder, name)]));
}
