/** How soon a silent peer is known: 20 s when nothing is under way, 8 s behind data, on a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pulse } from './pulse.ts';

function fixture() {
  const state = { now: 0, pings: [] as number[] };
  const clock = { now: () => state.now, monotonic: () => state.now };
  const pulse = new Pulse({
    clock,
    heartbeatMs: 10_000,
    deadAfterMs: 20_000,
    send: () => state.pings.push(state.now),
  });
  pulse.prompt = true;
  /** A second later; `do` happens within it. */
  const tick = (within: () => void = () => undefined, seconds = 1): number => {
    within();
    state.now += seconds * 1000;
    return pulse.sweep(state.now, seconds * 1000);
  };
  return { pulse, state, tick };
}

test('pulse: a peer that is silent behind data is asked within 2 s and dead within 8 s', () => {
  const { pulse, state, tick } = fixture();
  for (let i = 0; i < 30; i++) tick(() => (pulse.heard = true));
  state.pings.length = 0;
  const from = state.now;
  tick(() => (pulse.spoke = true));
  while (tick() === 0) assert.ok(state.now - from < 8_000, 'it is dead by now');
  assert.ok((state.pings[0] ?? Infinity) - from <= 2_000, `asked after ${state.pings[0]}`);
  assert.ok(state.now - from <= 8_000, `${state.now - from} ms`);
});

test('pulse: a silent idle peer is dead after 20 s, as is one that has not agreed on more', () => {
  const { pulse, state, tick } = fixture();
  tick(() => (pulse.heard = true));
  const from = state.now - 1_000;
  while (tick() === 0);
  assert.equal(state.now - from, 20_000, 'heard at the beginning of a second');
  const old = fixture();
  old.pulse.prompt = false;
  while (old.tick(() => (old.pulse.spoke = true)) === 0);
  assert.equal(old.state.now, 20_000);
});

test('pulse: a slow service is no silence, for its agent answers the ping', () => {
  const { pulse, state, tick } = fixture();
  tick(() => (pulse.spoke = true));
  for (let i = 0; i < 120; i++) {
    const asked = state.pings.length;
    const dead = tick(() => (pulse.heard = i > 0 && state.pings.length >= asked && i % 2 === 0));
    assert.equal(dead, 0);
  }
  assert.ok(state.pings.length <= 62, `${state.pings.length} pings in 2 minutes`);
});

test('pulse: a side that only receives says every 2 s that it is there, and an idle one does not', () => {
  const { pulse, state, tick } = fixture();
  for (let i = 0; i < 20; i++)
    tick(() => {
      pulse.heard = true;
      pulse.heardData = true;
    });
  assert.ok(state.pings.length >= 8 && state.pings.length <= 11, `${state.pings.length} pings in 20 s`);
  const idle = fixture();
  for (let i = 0; i < 20; i++) idle.tick(() => (idle.pulse.heard = true));
  assert.equal(idle.state.pings.length, 2, 'heartbeats alone');
});

test('pulse: neither a machine that slept nor a reader that may not read takes its peer for dead', () => {
  const { pulse, tick } = fixture();
  tick(() => (pulse.spoke = true));
  assert.equal(tick(undefined, 9), 0, 'it slept');
  tick(() => (pulse.spoke = true));
  for (let i = 0; i < 15; i++)
    assert.equal(
      tick(() => (pulse.excused = true)),
      0,
    );
});
