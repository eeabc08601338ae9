import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseRequestHead } from '../../http1/head.ts';
import { HeaderRule } from './header-rule.ts';

function set(name: string, value: string) {
  return { kind: 'header_set', enforce: true, name, value } as const;
}

/** The names of the lines that are forwarded. */
function kept(rule: HeaderRule, lines: readonly string[]): string[] {
  const bytes = Buffer.from(['GET / HTTP/1.1', 'Host: shop.example.com', ...lines, '', ''].join('\r\n'));
  const head = new Head();
  assert.ok(parseRequestHead(bytes, 0, bytes.length, head) > 0, head.reason);
  rule.dropFrom(bytes, head);
  const dropped = new Set(Array.from({ length: head.dropCount }, (_, d) => head.drops[2 * d]));
  return Array.from({ length: head.lineCount }, (_, l) => head.lines[l] as number)
    .filter((line) => !dropped.has(line))
    .map((line) => bytes.toString('latin1', line, bytes.indexOf(58, line)));
}

test('a header that is set replaces every line of its name, in any case and with underscores', () => {
  const rule = new HeaderRule([set('X-User', 'ann')]);
  assert.equal(rule.lines.toString(), 'X-User: ann\r\n');
  const lines = ['X-User: eve', 'x-user: eve', 'X_User: eve', 'X-User-Id: 7', 'X-Use: r'];
  assert.deepEqual(kept(rule, lines), ['Host', 'X-User-Id', 'X-Use']);
});

test('of two actions for one header the last counts', () => {
  const rule = new HeaderRule([set('X-A', '1'), set('X-B', '2'), set('x-a', '3')]);
  assert.equal(rule.lines.toString(), 'x-a: 3\r\nX-B: 2\r\n');
});

test('a line that is left out already is left out once', () => {
  const rule = new HeaderRule([set('X-Forwarded-Host', 'a')]);
  assert.deepEqual(kept(rule, ['X-Forwarded-Host: b', 'Accept: */*']), ['Host', 'Accept']);
});

test('a head full of lines of one name can be overwritten', () => {
  const rule = new HeaderRule([set('X-A', '1')]);
  assert.deepEqual(
    kept(
      rule,
      Array.from({ length: 99 }, () => 'X-A: 0'),
    ),
    ['Host'],
  );
});
