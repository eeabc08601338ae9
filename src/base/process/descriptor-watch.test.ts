import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DescriptorWatch } from './descriptor-watch.ts';
import type { Logger } from '../log.ts';

function watched(limit: number | null = 10_000) {
  const said: string[] = [];
  const say = (level: string) => (_fields: object, message: string) => void said.push(`${level} ${message}`);
  const log: Logger = { error: say('error'), warn: say('warn'), info: say('info'), debug: () => {}, child: () => log };
  const state = { now: 0, next: 30 as number | string };
  const probe = (): number => {
    if (typeof state.next === 'number') return state.next;
    throw Object.assign(new Error('none'), { code: state.next });
  };
  return { said, state, watch: new DescriptorWatch({ log, monotonic: () => state.now, few: 4_096, probe, limit }) };
}

test('descriptors: a lack is logged once a minute with what to raise, and counted at each look', () => {
  for (const code of ['EMFILE', 'ENFILE']) {
    const { said, state, watch } = watched();
    state.next = code;
    for (let i = 0; i < 61; i++, state.now += 1_000) watch.look();
    assert.equal(said.length, 2, said.join('\n'));
    for (const part of ['error ', 'LimitNOFILE', 'ulimit -n'])
      assert.ok(said[0]?.includes(part) === true, said[0] ?? '');
    assert.deepEqual(watch.figures, { limit: 10_000, used: 10_000, lacks: 61 });
    state.next = 40;
    watch.look();
    assert.match(said[2] ?? '', /^info .*free again/);
    assert.deepEqual(watch.figures, { limit: 10_000, used: 40, lacks: 61 });
  }
});

test('descriptors: the last tenth is warned of once, and again after a time of plenty', () => {
  const { said, state, watch } = watched();
  for (const next of [8_999, 9_000, 8_000, 9_500, 7_499, 9_001]) {
    state.next = next;
    watch.look();
  }
  assert.deepEqual(
    said.map((line) => line.split(' ', 1)[0]),
    ['warn', 'warn'],
  );
});

test('descriptors: another fault of the probe is no lack, and a system that does not tell its limit is watched too', () => {
  const { said, state, watch } = watched(null);
  state.next = 'EACCES';
  watch.look();
  assert.deepEqual([said, watch.figures.lacks], [[], 0]);
  state.next = 'EMFILE';
  watch.look();
  assert.equal(said.length, 1);
});

test('descriptors: a low limit is logged at the start, a high one is not', () => {
  for (const [limit, lines] of [
    [1_024, 1],
    [4_096, 0],
    [null, 0],
  ] as const) {
    const { said, watch } = watched(limit);
    watch.start()();
    assert.equal(said.length, lines);
  }
});
