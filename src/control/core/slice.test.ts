import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, ApiSettings } from './http/context.ts';
import { event, on } from '../db/events.ts';
import type { Core } from './core.ts';
import { type Slice, Slices } from './slice.ts';

const NO_CORE = {} as Core;
const NO_API = {} as Api;

const done = event('done');
const calls: string[] = [];

const low: Slice<string> = {
  name: 'low',
  service: () => 'low service',
  routes: (_, service) => void calls.push(`routes of ${service}`),
  on: (service) => [on(done, () => void calls.push(`handler of ${service}`))],
};
const high: Slice<string> = {
  name: 'high',
  service: (_, use) => `high service on ${use(low)}`,
  routes: (_, service) => void calls.push(`routes of ${service}`),
};

test('slices: each uses those before it, and all mount and handle events in their order', () => {
  const slices = new Slices(NO_CORE, [low, high]);
  assert.equal(slices.use(high), 'high service on low service');
  slices.mount(NO_API, {} as ApiSettings);
  assert.deepEqual(calls, ['routes of low service', 'routes of high service on low service']);
  assert.equal(slices.handlers().length, 1);
});

test('slices: one that uses a slice after it, or one that is not listed, is refused by name at the start', () => {
  assert.throws(() => new Slices(NO_CORE, [high, low]), /The slice low is not open/);
  assert.throws(() => new Slices(NO_CORE, [high]), /The slice low is not open/);
});
