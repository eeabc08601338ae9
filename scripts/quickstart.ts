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

/** A command as it can be typed in this folder. */
const typed = (args: readonly string[]): string => `npm run -s culvert -- ${args.join(' ')}`;
const say = (line = ''): void => console.log(line);
const title = (text: string): void => say(`\n${styleText('bold', text)}`);
const link = (url: string): string => styleText(['cyan', 'underline'], url);

async function quickstart(options: { once: boolean }): Promise<void> {
  const interrupted = AbortSignal.any([untilSignal('SIGINT'), untilSignal('SIGTERM')]);
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'culvert-quickstart-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));

  title('1. Start the server');
  const server = await startTrialServer(folder, { ...source, cwd: folder });
  stack.defer(async () => void (await server.program.stop()));
  say(`   ${typed(['serve', '--config', server.configFile])}`);
  for (const line of readFileSync(server.configFile, 'utf8').trimEnd().split('\n'))
    say(styleText('dim', `   | ${line}`));
  say(`   login: ${server.email}, password: ${server.password} (shown once, at the first start)`);

  title('2. Start a website');
  const site = await startSite();
  stack.defer(() => site.close());
  say(`   ${link(`http://127.0.0.1:${site.port}`)}`);

  title('3. Start the agent');
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, await mintKey(server), { mode: 0o600 });
  const args = ['http', String(site.port), '--subdomain', 'hello', '--server', server.apiUrl, '--token-file', keyFile];
  say(`   ${typed(args)}`);
  const agent = new Program({ ...source, args, cwd: folder });
  stack.defer(async () => void (await agent.stop()));
  const publicUrl = await agent.printed(/^(https?:\/\/\S+)$/m);
  const pageUrl = await agent.printed(
    /"url":"(\S+?)","msg":"local inspector started|the local inspector could not start/m,
  );

  title('4. Request the public URL');
  const { status, body, ms } = await visit(publicUrl, server.httpPort);
  const found = /<h1>(.*?)<\/h1>/.exec(body)?.[1];
  if (status !== 200 || found === undefined)
    throw new Error(`${publicUrl} responded with ${status}: ${body.slice(0, 200)}`);
  say(`   GET ${publicUrl} → ${status} in ${ms.toFixed(0)} ms: "${found}"`);

  title('Open it');
  say(`   ${link(publicUrl)}   the website, through the tunnel, with streaming and WebSocket`);
  say(`   ${link(`${server.apiUrl}/app/`)}   dashboard: log in with the email and password of step 1`);
  const hasPage = pageUrl.startsWith('http');
  say(
    hasPage
      ? `   ${link(pageUrl)}   local inspector: every request as it happens, with Replay`
      : '   no port is free for the local inspector',
  );
  say(`   ${link(`${server.apiUrl}/docs/`)}   documentation`);
  say(`   ${link(`${server.apiUrl}/health`)}   health check`);
  title('Try next, in another terminal');
  const { host } = new URL(publicUrl);
  say(`   curl -H 'Host: ${host}' http://127.0.0.1:${server.httpPort}/`);
  say(`   ${typed(['http', '3000', '--server', server.apiUrl, '--token-file', keyFile])}   # publish port 3000`);
  say('   docs/install.md   put a server on the internet, with HTTPS');
  say();
  if (options.once) return;
  say('Press Ctrl-C to stop and delete everything.');
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
  return `the ${what} exited with code ${code}. Its output:\n${program.output}`;
}

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
try {
  await quickstart(values);
} catch (error) {
  console.error(`\nquickstart: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
