/** What the inspector compares, searches and remembers, without a browser. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { bodyLines, compareFields } from '../../src/dashboard/pages/inspector/compare/compared.ts';
import { diffLines, hunksOf } from '../../src/dashboard/pages/inspector/compare/line-diff.ts';
import { chosenIn, listHref, requestHref } from '../../src/dashboard/pages/inspector/filters/address.ts';
import {
  filterIn,
  isServersCall,
  type Item,
  matches,
  queryOf,
} from '../../src/dashboard/pages/inspector/filters/filter.ts';
import { readSaved, withSaved } from '../../src/dashboard/pages/inspector/filters/saved.ts';
import { BETWEEN_SEARCHES_MS, SearchPace } from '../../src/dashboard/pages/inspector/live/search-pace.ts';
import { maskRulesIn, maskText } from '../../src/dashboard/pages/inspector/recording/mask-rules.ts';
import { searched, WORDS } from '../../src/dashboard/pages/inspector/filters/search-words.ts';

const ID = '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10';
const OTHER = '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a11';

/** As `diff` writes it. */
function diff(before: string, after: string): string {
  const signs = { same: ' ', removed: '-', added: '+' };
  return diffLines(before.split(''), after.split(''))
    .map(({ kind, text }) => signs[kind] + text)
    .join('');
}

suite('comparison', () => {
  test('line diff: the shortest change', () => {
    assert.equal(diff('', ''), '');
    assert.equal(diff('abc', 'abc'), ' a b c');
    assert.equal(diff('abc', ''), '-a-b-c');
    assert.equal(diff('', 'ab'), '+a+b');
    assert.equal(diff('abc', 'axc'), ' a-b+x c');
    assert.equal(diff('abcd', 'acbd'), ' a-b c+b d');
    assert.equal(diff('ab', 'xaby'), '+x a b+y');
  });

  test('line diff: gives back both texts, with as few changes as there are, for any texts', () => {
    let seed = 7;
    const random = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * most);
    };
    for (let round = 0; round < 300; round++) {
      const text = (): string[] => Array.from({ length: random(14) }, () => 'abc'[random(3)] as string);
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const of = (kind: string): string[] =>
        lines.filter((line) => line.kind === 'same' || line.kind === kind).map((line) => line.text);
      assert.deepEqual([of('removed'), of('added')], [before, after]);
      assert.equal(
        lines.filter(({ kind }) => kind !== 'same').length,
        before.length + after.length - 2 * common(before, after),
      );
    }
  });

  test('line diff: texts that have nothing in common, or are long, cost little', () => {
    const lines = (word: string): string[] => Array.from({ length: 30_000 }, (_, at) => `${word} ${at}`);
    const before = performance.now();
    assert.equal(diffLines(lines('a'), lines('b')).length, 60_000);
    assert.equal(diffLines(lines('a').slice(0, 5000), lines('b').slice(0, 5000)).length, 10_000);
    assert.ok(performance.now() - before < 5000);
  });

  test('hunks: equal lines far from a change are left out and counted', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    const found = hunksOf(diffLines(before, [...before.slice(0, 15), 'new', ...before.slice(15)]));
    assert.deepEqual(
      found.map((hunk) => ('left' in hunk ? hunk.left : hunk.lines.length)),
      [12, 7, 12],
    );
    assert.deepEqual(hunksOf([]), []);
  });

  test('bodies: JSON that differs by blanks alone is the same', () => {
    assert.deepEqual(bodyLines('{"a":[1, 2]}'), bodyLines('{\n"a" : [1,2]\n}'));
    assert.deepEqual(bodyLines('a\r\nb'), ['a', 'b']);
    assert.deepEqual(bodyLines('{a'), ['{a']);
  });

  test('headers: compared by name, credentials stay covered', () => {
    const found = compareFields(
      [
        { name: 'Accept', value: '*/*' },
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '2' },
        { name: 'Cookie', value: 'sid=one' },
        { name: 'Old', value: '1' },
      ],
      [
        { name: 'accept', value: '*/*' },
        { name: 'X-A', value: '1' },
        { name: 'Cookie', value: 'sid=two' },
        { name: '__proto__', value: '1' },
      ],
    );
    assert.deepEqual(found, {
      changed: [
        { name: 'x-a', left: '1\n2', right: '1' },
        { name: 'cookie', left: '••••••••', right: '••••••••' },
        { name: 'old', left: '1', right: undefined },
        { name: '__proto__', left: undefined, right: '1' },
      ],
      same: 1,
    });
  });
});

suite('search', () => {
  test('search: words are filters, the rest is a path', () => {
    assert.deepEqual(searched('/orders status:404 method:post').filter, {
      path: '/orders',
      status: '404',
      method: 'post',
    });
    assert.deepEqual(searched('header:content-type:json body:"order 4711"').filter, {
      header: 'content-type:json',
      body: 'order 4711',
    });
    assert.deepEqual(searched('ip:203.0.113.0/24 decision:blocked since:1h').filter, {
      address: '203.0.113.0/24',
      outcome: 'refused',
      since: '1h',
    });
    assert.deepEqual(searched(`TRACE:${'aB'.repeat(16)}`).filter, { trace: 'ab'.repeat(16) });
    assert.deepEqual(searched('/a?url=http://x foo:bar'), {
      filter: { path: '/a?url=http://x foo:bar' },
      hasWords: false,
      problem: undefined,
    });
  });

  test('search: durations in milliseconds, seconds and ranges', () => {
    const of = (text: string) => searched(`duration:${text}`).filter;
    assert.deepEqual(of('>500ms'), { minMs: '500' });
    assert.deepEqual(of('>500'), { minMs: '500' });
    assert.deepEqual(of('<1.5s'), { maxMs: '1500' });
    assert.deepEqual(of('>0.0004s'), { minMs: '0' });
    assert.deepEqual(of('100ms-1s'), { minMs: '100', maxMs: '1000' });
  });

  test('search: what is no value of a word is said', () => {
    for (const text of [
      'status:9',
      'ip:nowhere',
      'duration:long',
      'duration:1',
      'trace:1',
      'decision:__proto__',
      'since:1y',
    ])
      assert.equal(searched(`/a ${text}`).problem, `Can't understand ${text}`, text);
    assert.equal(searched('constructor:x').hasWords, false);
  });

  test('search: each example of the help is understood', () => {
    for (const { example } of WORDS) {
      const { filter, problem } = searched(example);
      assert.equal(problem, undefined, example);
      assert.equal(Object.keys(filter).length, 1, example);
    }
  });

  test('live search: one at a time, from the first request that came, and none out of sight', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked: string[] = [];
    let isHidden = false;
    let finish = (): void => {};
    const search = (from: string): Promise<void> => {
      asked.push(from);
      return new Promise((resolve) => (finish = resolve));
    };
    const pace = new SearchPace({ search, isHidden: () => isHidden });
    const wait = async (): Promise<void> => {
      t.mock.timers.tick(BETWEEN_SEARCHES_MS);
      await setImmediate();
    };
    pace.want('1');
    pace.want('2');
    await wait();
    assert.deepEqual(asked, ['1']);
    // The search takes longer than the pause.
    pace.want('3');
    await wait();
    assert.deepEqual(asked, ['1']);
    finish();
    await setImmediate();
    await wait();
    assert.deepEqual(asked, ['1', '3']);
    finish();
    await setImmediate();
    isHidden = true;
    pace.want('4');
    pace.want('5');
    await wait();
    assert.deepEqual(asked, ['1', '3']);
    isHidden = false;
    pace.plan();
    await wait();
    assert.deepEqual(asked, ['1', '3', '4']);
    finish();
    pace.want('6');
    pace.end();
    await wait();
    assert.deepEqual(asked, ['1', '3', '4']);
  });

  test('filters: words of the server, and what the live feed can decide', () => {
    const filter = { address: '::1', header: 'x-id:7', body: 'a', minMs: '5', maxMs: '10', trace: 'ab'.repeat(16) };
    assert.deepEqual(queryOf(filter, 0), {
      address: '::1',
      header: 'x-id:7',
      body: 'a',
      min_latency_ms: 5,
      max_latency_ms: 10,
      trace_id: 'ab'.repeat(16),
    });
    assert.deepEqual(filterIn(new URLSearchParams(filter).toString()), filter);
    assert.deepEqual(filterIn('?address=x&header=a%20b&minMs=1.5&maxMs=1e9&trace=12'), {});
    const item = { latency_ms: 7, path: '/' } as Item;
    assert.equal(matches({ minMs: '5', maxMs: '10' }, item), true);
    assert.equal(matches({ minMs: '8' }, item), false);
    assert.equal(matches({ maxMs: '6' }, item), false);
    assert.equal(isServersCall({ minMs: '5', path: '/' }), false);
    assert.equal(isServersCall({ body: 'a' }), true);
  });
});

suite('addresses and saved filters', () => {
  test('addresses: the chosen request is beside the filters', () => {
    assert.equal(listHref({}), '/inspector');
    const href = listHref({ path: '/a&b' }, { request: ID, against: OTHER });
    assert.equal(href, `/inspector?path=%2Fa%26b&request=${ID}&against=${OTHER}`);
    const search = href.slice('/inspector?'.length);
    assert.deepEqual(chosenIn(search), { request: ID, against: OTHER });
    assert.deepEqual(filterIn(search), { path: '/a&b' });
    assert.equal(requestHref(ID, {}), `/inspector/${ID}`);
    assert.deepEqual(chosenIn('?request=../../x&against=1'), {});
  });

  test('saved filters: what is none is left out', () => {
    const kept = JSON.stringify([
      { name: 'Errors', search: 'status=5xx&nonsense=1' },
      { name: '', search: 'status=5xx' },
      { name: 'Nothing', search: 'status=999' },
      { name: 7, search: 'status=5xx' },
      null,
      'x',
    ]);
    assert.deepEqual(readSaved(kept), [{ name: 'Errors', search: 'status=5xx' }]);
    for (const broken of [undefined, '', '{', '{}', 'null']) assert.deepEqual(readSaved(broken), [], String(broken));
  });

  test('saved filters: the newest first, one of a name, and no more than twenty', () => {
    let saved = withSaved([], { name: 'a', search: 'status=404' });
    saved = withSaved(saved, { name: 'b', search: 'status=500' });
    saved = withSaved(saved, { name: 'a', search: 'status=403' });
    assert.deepEqual(saved, [
      { name: 'a', search: 'status=403' },
      { name: 'b', search: 'status=500' },
    ]);
    for (let at = 0; at < 30; at++) saved = withSaved(saved, { name: `n${at}`, search: 'status=404' });
    assert.equal(saved.length, 20);
  });
});

suite('mask rules', () => {
  test('mask rules: one a line, read back as they are written', () => {
    const rules = [
      { header: 'X-Api-Key' },
      { json_path: "$..['a: b']" },
      { query: 'token' },
      { form: 'card number' },
    ] as const;
    const text = "header: X-Api-Key\njson: $..['a: b']\nquery: token\nform: card number";
    assert.equal(maskText(rules), text);
    assert.deepEqual(maskRulesIn(`\n ${text.replace('json: ', 'JSON :')}\n\n`), { rules });
    assert.deepEqual(maskRulesIn(''), { rules: [] });
  });

  test('mask rules: a line that is none is named', () => {
    for (const line of ['X-Api-Key', 'cookie: a', 'header:', '__proto__: a', 'constructor: a']) {
      const read = maskRulesIn(`query: a\n${line}`);
      assert.ok('problem' in read && read.problem.startsWith(`"${line}" is not a rule`), line);
    }
  });
});

/** Length of the longest common subsequence. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [at, other] of b.entries())
      next.push(one === other ? (row[at] as number) + 1 : Math.max(row[at + 1] as number, next[at] as number));
    row = next;
  }
  return row[b.length] as number;
}
