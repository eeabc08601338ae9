import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Clearance } from './clearance.ts';
import { TurnEnd } from '../process/turn.ts';

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

test('it is said once, after a whole turn without a read', async () => {
  let said = 0;
  const clearance = new Clearance(new TurnEnd(), () => said++);
  clearance.ask();
  clearance.ask();
  await turns(1);
  assert.equal(said, 0, 'the turn in which it was asked says nothing');
  await turns(3);
  assert.equal(said, 1);
  await turns(3);
  assert.equal(said, 1);
});

test('whatever is read meanwhile begins it anew, and it can be taken back', async () => {
  let said = 0;
  const clearance = new Clearance(new TurnEnd(), () => said++);
  for (let i = 0; i < 5; i++) {
    clearance.ask();
    await turns(1);
  }
  assert.equal(said, 0);
  clearance.cancel();
  await turns(4);
  assert.equal(said, 0);
  clearance.ask();
  await turns(4);
  assert.equal(said, 1);
});
