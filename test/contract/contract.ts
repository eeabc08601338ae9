/** What clients and scripts rely on, each with the file that keeps it. Compared by `npm test`, written by `npm run contract:write`. */
import { startHarness } from '../../src/control/core/testing/harness.ts';
import { flagText } from './flag-lines.ts';
import { openApiText } from './openapi-lines.ts';

export interface Contract {
  readonly name: string;
  readonly file: URL;
  /** The text that the present source makes. */
  readonly read: () => Promise<string>;
}

export const CONTRACTS: readonly Contract[] = [
  { name: 'REST API', file: new URL('openapi.txt', import.meta.url), read: readOpenApi },
  { name: 'command line', file: new URL('flags.txt', import.meta.url), read: async () => flagText() },
];

/** As a running server serves it. */
async function readOpenApi(): Promise<string> {
  const harness = await startHarness();
  try {
    return openApiText(JSON.parse((await harness.call('GET', '/openapi.json')).text));
  } finally {
    await harness.close();
  }
}
