/**
 * `npm run quickstart`: server, a small local site and an agent on this machine, and a visit by the public name. Ends on Ctrl-C and
 * leaves nothing behind. `--once` ends after the visit, with exit code 0 when it went well.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { Program } from './quickstart/program.ts';
import { mintKey, startTrialServer } from './quickstart/server.ts';
import { startSite } from './quickstart/site.ts';
import { visit } from './quickstart/visit.ts';

const root = join(import.meta.dirname, '..');
const source = { command: [process.execPath, join(root, 'src/main.ts')] };

const say = (line = ''): void => console.log(line);
const title = (text: string): void => say(`\n${styleText('bold', text)}`);
const link = (url: string): string => styleText(['cyan', 'underline'], url);

async function quickstart(options: { once: boolean }): Promise<void> {
  const interrupted = AbortSignal.any([untilSignal('SIGINT'), untilSignal('SIGTERM')]);
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'culvert-quickstart-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));

  title('1. The server');
  const server = await startTrialServer(folder, { ...source, cwd: folder });
  stack.defer(async () => void (await server.program.stop()));
  say(`   culvert serve --config ${server.configFile}`);
  for (const line of readFileSync(server.configFile, 'utf8').trimEnd().split('\n'))
    say(styleText('dim', `   | ${line}`));
  say(`   log in as ${server.email} with ${server.password} (printed once, at the first start)`);

  title('2. Something to publish');
  const site = await startSite();
  stack.defer(() => site.close());
  say(`   a small site on ${link(`http://127.0.0.1:${site.port}`)}`);

  title('3. The agent');
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, await mintKey(server), { mode: 0o600 });
  const args = ['http', String(site.port), '--subdomain', 'hello', '--server', server.apiUrl, '--token-file', keyFile];
  say(`   culvert ${args.join(' ')}`);
  const agent = new Program({ ...source, args, cwd: folder });
  stack.defer(async () => void (await agent.stop()));
  const publicUrl = await agent.printed(/^(https?:\/\/\S+)$/m);
  const pageUrl = await agent.printed(/"url":"(\S+?)","msg":"requests can be looked at|no page to look at requests/m);

  title('4. A visit by the public name');
  const { status, body, ms } = await visit(publicUrl, server.httpPort);
  const found = /<h1>(.*?)<\/h1>/.exec(body)?.[1];
  if (status !== 200 || found === undefined) throw new Error(`${publicUrl} answered ${status}: ${body.slice(0, 200)}`);
  say(`   GET ${publicUrl} → ${status} in ${ms.toFixed(0)} ms: "${found}"`);

  title('Open it');
  say(`   ${link(publicUrl)}   the site, through the tunnel: streaming and WebSocket too`);
  say(`   ${link(`${server.apiUrl}/app/`)}   the dashboard: sign in with what step 1 shows`);
  const hasPage = pageUrl.startsWith('http');
  say(
    hasPage
      ? `   ${link(pageUrl)}   the agent's page: each request while it happens, and Replay`
      : "   no port is free for the agent's page",
  );
  say(`   ${link(`${server.apiUrl}/.well-known/culvert`)}   what an agent learns from the server`);
  say(`   ${link(`${server.apiUrl}/health`)}   is the server well`);
  title('Try next, in another terminal');
  const { host } = new URL(publicUrl);
  say(`   curl -H 'Host: ${host}' http://127.0.0.1:${server.httpPort}/`);
  say(
    `   CULVERT_TOKEN_FILE=${keyFile} CULVERT_SERVER=${server.apiUrl} npx -c 'node src/main.ts http 3000'   your own port`,
  );
  say('   config.example.toml has every setting, README.md the way to a real name with HTTPS');
  say();
  if (options.once) return;
  say('Ctrl-C ends it and removes everything.');
  const ended = await Promise.race([waitFor(interrupted), whoEnds('server', server.program), whoEnds('agent', agent)]);
  if (ended !== undefined) throw new Error(ended);
}

function untilSignal(name: NodeJS.Signals): AbortSignal {
  const controller = new AbortController();
  process.once(name, () => controller.abort());
  return controller.signal;
}

async function waitFor(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function whoEnds(what: string, program: Program): Promise<string> {
  const code = await program.ended();
  return `the ${what} ended with code ${code}; it printed:\n${program.output}`;
}

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
try {
  await quickstart(values);
} catch (error) {
  console.error(`\nquickstart: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
