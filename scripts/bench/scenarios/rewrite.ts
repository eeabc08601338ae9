/** What `--host-header` and `--path-prefix` cost: processor time per request of tunnels with them, against one without. */
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { measureWays, type Way } from '../ways.ts';

const NAME = 'rewrite';
const SERVER = 'server-rewrite';
const CONNECTIONS = 64;

const WAYS: readonly Pick<Way, 'key' | 'title' | 'headers'>[] = [
  { key: 'none', title: 'as it comes', headers: [] },
  { key: 'host', title: '--host-header rewrite', headers: [] },
  {
    key: 'browser',
    title: '--host-header rewrite, with Origin and Referer',
    headers: ['Origin: http://rewrite-browser.localhost', 'Referer: http://rewrite-browser.localhost/from'],
  },
];

/** Measures and keeps the ratios under `rewrite`; the text is the table for the report. */
export async function measureRewrite(bench: Bench): Promise<string> {
  const { processes, tools, options } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: SERVER });
  const ways: Way[] = [];
  for (const way of WAYS) {
    const subdomain = `${NAME}-${way.key}`;
    const flags = way.key === 'none' ? [] : ['--host-header', 'rewrite'];
    const name = `agent-${way.key}`;
    const subject = await startAgent(processes, server, { originPort: origin.port, name, subdomain, flags });
    ways.push({ ...way, subject, host: `${subdomain}.localhost`, begin: () => Promise.resolve() });
  }
  return measureWays(bench, { name: NAME, server: SERVER, connections: CONNECTIONS, ways });
}
