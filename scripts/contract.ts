/**
 * `npm run contract:write`: routes, fields and flags of this source → test/contract/*.txt, which `npm test` compares. Prints each change.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { changes } from '../test/contract/blocks.ts';
import { CONTRACTS } from '../test/contract/contract.ts';

for (const { name, file, read } of CONTRACTS) {
  const now = await read();
  const found = changes(readFileSync(file, 'utf8'), now);
  writeFileSync(file, now);
  console.log([`${name}: ${found.length === 0 ? 'no change' : 'written'}`, ...found].join('\n  '));
}
