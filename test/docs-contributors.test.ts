/** CONTRIBUTING.md, ARCHITECTURE.md, recipes and decision records: short, linked, and in step with the tree. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anchorOf } from '../scripts/docs/pages.ts';
import { findTestFiles, named, type TestFile } from '../scripts/test/files.ts';
import { contributorDocuments, type Document, documents, tableUnder, withoutCode } from './harness/docs.ts';

const ROOT = join(import.meta.dirname, '..');
const GUIDES = contributorDocuments();
const RECORDS = GUIDES.filter(({ path }) => path.startsWith('docs/decisions/'));

function textOf(path: string): string {
  return GUIDES.find((document) => document.path === path)?.text ?? '';
}

function maxLines({ path }: Document): number {
  if (path === 'ARCHITECTURE.md') return 250;
  return path.startsWith('docs/decisions/') ? 40 : 200;
}

test('contributor docs: each is short', () => {
  assert.ok(RECORDS.length >= 10, `${RECORDS.length} records`);
  for (const document of GUIDES) {
    const lines = document.text.split('\n').length - 1;
    assert.ok(lines <= maxLines(document), `${document.path}: ${lines} lines`);
  }
});

test('contributor docs: every link leads to a file and a heading', () => {
  const headings = new Map(
    [...documents(), ...GUIDES].map(({ path, text }) => [
      path,
      new Set(Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading))),
    ]),
  );
  const wrong = GUIDES.flatMap(({ path, text }) =>
    Array.from(withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target)
      .filter((target) => {
        const [file = '', anchor] = target.split('#');
        const full = file === '' ? path : join(path, '..', file);
        return !existsSync(join(ROOT, full)) || (anchor !== undefined && headings.get(full)?.has(anchor) !== true);
      })
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('contributor docs: every file and script named is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const wrong = GUIDES.flatMap(({ path, text }) =>
    [
      ...Array.from(text.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g), ([, name = '']) => name).filter(
        (name) => !existsSync(join(ROOT, name)),
      ),
      ...Array.from(text.matchAll(/npm run (?:-s )?([a-z:]+)/g), ([, name = '']) => name).filter(
        (name) => !(name in scripts),
      ),
    ].map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

test('contributor docs: a file that is named without its folder is somewhere', () => {
  const names = new Set(
    ['src', 'test', 'scripts'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).map(({ name }) => name),
    ),
  );
  const wrong = GUIDES.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/`([a-z\d-]+(?:\.test)?\.tsx?)`/g), ([, name = '']) => name)
      // `rows.ts` is an ending, too.
      .filter((name) => !names.has(name) && ![...names].some((file) => file.endsWith(`-${name}`)))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

test('contributor docs: every `npm test -- NAMES` names test files', () => {
  const files = findTestFiles();
  const wrong = GUIDES.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/npm test -- ([^\n`|]+)/g), ([, names = '']) =>
      names.replace(/ --.*/, '').trim().split(' '),
    )
      .flat()
      .filter((name) => /^\w[\w/.-]*$/.test(name) && !/^[A-Z]+$/.test(name) && !isThere(files, name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

function isThere(files: readonly TestFile[], name: string): boolean {
  try {
    return named(files, [name]).length > 0;
  } catch {
    return false;
  }
}

test('ARCHITECTURE.md: the map has every folder of src, and no other', () => {
  const named = tableUnder(textOf('ARCHITECTURE.md'), 'Map').flatMap(([cell = '']) => cell);
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders)
    assert.ok(
      named.some((path) => path.startsWith(`${name}/`)),
      name,
    );
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, 'src', path))),
    [],
  );
});

test('ARCHITECTURE.md: lists every decision record by its title', () => {
  const [, list = ''] = textOf('ARCHITECTURE.md').split('\n## Decision records\n');
  assert.deepEqual(
    Array.from(list.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)$/gm), ([, title, path]) => [title, path]),
    RECORDS.map(({ path, text }) => [/^# (.+)$/m.exec(text)?.[1], path]),
  );
});

test('decision records: each has context, decision and consequences', () => {
  for (const { path, text } of RECORDS) {
    const headings = Array.from(text.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
    assert.deepEqual(headings.slice(0, 3), ['Context', 'Decision', 'Consequences'], path);
    assert.match(path, /\/\d{4}-[\w-]+\.md$/);
  }
});
