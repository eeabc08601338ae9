/** README, changelog and pages are in plain English: short sentences, the field's words. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contributorDocuments, type Document, documents, sentences, withoutCode } from './harness/docs.ts';

const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const GUIDES: readonly Document[] = [...documents(), ...contributorDocuments()];
const ALL: readonly Document[] = [...GUIDES, { path: 'CHANGELOG.md', text: changelog }];

const MAX_WORDS = 30;
const MEDIAN_WORDS = 16;
/** Words that say a thing which has a better name, and roles that have one. */
const NOT_OURS =
  /\b(?:whoever|whomever|nobody|somebody|everybody|anybody|letters?|deeds?|doors?|log-ins?|mailbox(?:es)?|is told|are told|gets told|shaken hands|at rest|to rest|shut out|let in|lets? .{1,20} in)\b/i;
const NO_SUBJECT = /^(?:Who|Whoever|Whom|What|Whatever|That|Where)\b(?!.*\?$)/;

const count = (sentence: string): number => sentence.split(' ').filter((word) => /\w/.test(word)).length;

test(`docs: no sentence has more than ${MAX_WORDS} words, and half of them at most ${MEDIAN_WORDS}`, () => {
  for (const document of ALL) {
    const all = sentences(document);
    const long = all.filter((sentence) => count(sentence) > MAX_WORDS);
    assert.deepEqual(long, [], document.path);
    const sorted = all.map(count).toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    assert.ok(median <= MEDIAN_WORDS, `${document.path}: half of the sentences have over ${median} words`);
  }
});

test('docs: things and roles have the names of the field', () => {
  for (const { path, text } of ALL)
    for (const line of withoutCode(text).split('\n')) assert.doesNotMatch(line, NOT_OURS, path);
});

test('docs: a heading is a noun phrase or an instruction, not a relative clause', () => {
  const wrong = documents().flatMap(({ path, text }) =>
    Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => heading)
      .filter((heading) => NO_SUBJECT.test(heading) || /^Which\b/.test(heading))
      .map((heading) => `${path}: ${heading}`),
  );
  assert.deepEqual(wrong, []);
});

test('docs: a sentence begins with a noun or a verb, not with a relative clause', () => {
  const wrong = GUIDES.flatMap((document) =>
    sentences(document)
      .filter((sentence) => NO_SUBJECT.test(sentence))
      .map((sentence) => `${document.path}: ${sentence}`),
  );
  assert.deepEqual(wrong, []);
});
