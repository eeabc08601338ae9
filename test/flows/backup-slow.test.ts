/** The same story twenty times: a write that is lost now and then would be lost in one of them. */
// group: slow
import { test } from 'node:test';
import { backupStory } from './backup-story.ts';

for (let run = 1; run <= 20; run++) {
  test(`backup under load, restore elsewhere: run ${run} of 20`, { timeout: 240_000 }, async (t) => {
    const { writes, backupMs, restoreMs } = await backupStory(t, run % 2 === 0 ? 'a passphrase of a test' : undefined);
    t.diagnostic(`${writes} writes meanwhile, backup ${backupMs.toFixed(0)} ms, restore ${restoreMs.toFixed(0)} ms`);
  });
}
