/** The words of code, documentation and test titles: none of the words below, each with its reason. The glossary is exempt. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../', import.meta.url);

interface Banned {
  readonly word: RegExp;
  readonly because: string;
  /** Lines with another sense of the word. */
  readonly unless?: RegExp;
}

/** A line about letters of the alphabet: it names digits, characters, letter case or a position, or is code about characters. */
const CHARACTERS =
  /digit|charact|alphabet|\bASCII|base64|letter case|cased|small letter|letter small|toUpperCase|upper \|\||capital|letter-spacing|\(letter\)|\bfirst letter|(?:\d+|six|fourteen) letters|parts of letters|letters of (?:the|other)|(?:the|its) last letter|plain\[letter|escape\.charAt|FOLD\[|LETTER_C|sealed_letter|isLetter|=== letter|for a letter|the letter (?:of RFC|of the RFC|is the end)|by the letter|beyond the first|brackets in strings/i;

const BANNED: readonly Banned[] = [
  { word: /\bdeeds?\b/i, because: 'say action or permission; an entry of the audit log is an event' },
  { word: /\b(?:whoever|whomever)\b/i, because: 'name the role: user, member, operator, caller, client, peer' },
  { word: /\bnobody\b/i, because: 'name the role: no user, no agent, no process', unless: /user nobody|-u nobody/ },
  { word: /\bsomebody\b/i, because: 'name the role: a user, a visitor, another process' },
  { word: /\beverybody\b/i, because: 'name the role: all users, all visitors' },
  { word: /\banybody\b/i, because: 'name the role: any user, any client' },
  { word: /\bwhom\b/i, because: 'split the sentence, and name the role' },
  { word: /\bletters?\b/i, because: 'say email; letters are characters', unless: CHARACTERS },
  {
    word: /\b(?:is|are|was|were|be|been|being|gets?|got) told\b/i,
    because: 'say notified, reported, logged or receives',
  },
  { word: /\b(?:lets? in|letting in)\b(?! String)/i, because: 'say allow or accept' },
  { word: /\b(?:shuts? out|shutting out)\b/i, because: 'say block or refuse' },
  {
    word: /\bdoors?\b/i,
    because: 'say entry point, listener or handshake',
    unless: /barn door|door dove|boot-door|IconDoorExit/,
  },
  { word: /\bbooks?\b/i, because: 'say registry or cache', unless: /IconBook|bonnet book boot/ },
  { word: /\bstandings?\b/i, because: 'say state or status, and of what' },
  { word: /\b(?:lookouts?|greetings?)\b/i, because: 'say reachability probe, mac1 check', unless: /greetingTimeout/ },
  { word: /\bpassages?\b/i, because: 'say flow filter' },
  { word: /\blocal services?\b/i, because: 'say the service; to users, your service' },
  { word: /\bkeys? for scrapers?\b/i, because: 'say metrics key' },
  { word: /\brehears(?:als?|es?|ed|ing)\b/i, because: 'say policy test' },
  { word: /\bto rest\b(?!-)/i, because: 'say cooldown (of a name), idle (of a connection) or wait' },
];

/** Generated from other sources; and a test that has banned words of its own. */
const EXEMPT = new Set([
  'src/control/db/migrations.gen.ts',
  'src/dashboard/api/schema.gen.ts',
  'src/control/web/document-routes.test.ts',
]);

const TEXT = /\.(?:tsx?|mjs|css|html|md)$/;

/** The files below a folder, or the file itself. */
function filesOf(path: string): string[] {
  const at = new URL(path, ROOT);
  if (statSync(at).isFile()) return [path];
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TEXT.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(ROOT.pathname.length).replaceAll('\\', '/'))
    .filter((file) => !EXEMPT.has(file));
}

/** Splits identifiers into words: `recordDeed`, `DEED_LIMIT`. */
function wordsOf(line: string): string {
  return line.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
}

function complaints(where: string, line: string): string[] {
  const words = wordsOf(line);
  return BANNED.flatMap(({ word, because, unless }) => {
    const found = word.exec(words)?.[0];
    return found === undefined || unless?.test(line) === true ? [] : [`${where}: "${found}": ${because}`];
  });
}

function complaintsIn(file: string): string[] {
  const lines = readFileSync(new URL(file, ROOT), 'utf8').split('\n');
  return [
    ...complaints(file, file.replaceAll('-', ' ')),
    ...lines.flatMap((line, index) => complaints(`${file}:${index + 1}`, line)),
  ];
}

/** Titles of tests and suites, e.g. `test('title', …)`. */
const TITLE = /^\s*(?:test|suite|describe|it)\(\s*(['"`])(.+?)\1/gm;

function titleComplaints(file: string): string[] {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  return Array.from(text.matchAll(TITLE), ([, , title = '']) => title).flatMap((title) => complaints(file, title));
}

test('language: a banned word is found in prose, identifiers and constants', () => {
  for (const line of [
    '// Whoever asks.',
    'recordDeed(tx)',
    'const DEED_LIMIT = 1',
    'it shuts out visitors',
    'The letter is sent.',
  ])
    assert.equal(complaints('here', line).length, 1, line);
  for (const line of ['letters and digits', 'letter-spacing: 0', 'the first letters', 'the rest', 'agents are allowed'])
    assert.deepEqual(complaints('here', line), [], line);
});

test('language: source has no banned words', () => {
  assert.deepEqual(filesOf('src').flatMap(complaintsIn), []);
});

test('language: titles of tests have no banned words', () => {
  const files = filesOf('test').filter((file) => file.endsWith('.test.ts'));
  assert.ok(files.length > 0);
  assert.deepEqual(files.flatMap(titleComplaints), []);
});

test('language: scripts and documentation have no banned words', () => {
  const pages = filesOf('docs').filter((file) => file !== 'docs/glossary.md');
  const files = [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'SECURITY.md',
    'config.example.toml',
    ...pages,
    ...filesOf('scripts'),
  ];
  assert.deepEqual(files.flatMap(complaintsIn), []);
});

/** `new AppError('code', 'text')` and `refuse('code', 'text')`, as far as the text is written there. */
const REFUSAL = /(?:new AppError|refuse)\(\s*'(\w+)',\s*(['"`])((?:(?!\2)[^\\]|\\.)*)\2/g;
/** Older words for a reason or a step. */
const OLD_STYLE =
  /\bany ?more\b|\brun out\b|\bmay not\b|can't be asked|\bgone\b|\be-mail\b|\blog-in\b|\bmint(?:ed)?\b(?! NAME)/i;

test('errors: a message of the API says what failed or why, then what to do, and none stops at the fact', () => {
  const messages = filesOf('src/control')
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      Array.from(readFileSync(new URL(file, ROOT), 'utf8').matchAll(REFUSAL), ([, code = '', , text = '']) => ({
        code,
        text,
        where: `${file}: ${text}`,
      })),
    );
  assert.ok(messages.length > 200, `${messages.length} messages`);
  assert.deepEqual(
    messages.filter(({ text }) => OLD_STYLE.test(text)).map(({ where }) => where),
    [],
  );
  // The step behind a missing object is to look again: its message may be the fact alone.
  const short = messages.filter(({ code, text }) => code !== 'not_found' && !/[.:;] \S|^\$\{\w+\} [A-Z$]/.test(text));
  assert.deepEqual(
    short.map(({ where }) => where),
    [],
  );
});
