/**
 * Server and agent from source around one local port, for scripts that put load on a tunnel (soak.ts, fuzz.ts).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from './program.ts';
import { mintKey, startTrialServer } from './server.ts';

export interface Trial {
  /** Value of `Host` for the tunnel. */
  readonly host: string;
  /** Port of the public HTTP edge on 127.0.0.1. */
  readonly port: number;
  /** Ends both in good order. Throws when one of them had ended before or ends with a failure. */
  close(): Promise<void>;
}

/** Publishes `localPort` by a server and an agent of their own. */
export async function startTrial(localPort: number): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-trial-'));
  const command = [process.execPath, join(import.meta.dirname, '../../src/main.ts')];
  const server = await startTrialServer(folder, { command, cwd: folder });
  const key = join(folder, 'key');
  writeFileSync(key, await mintKey(server), { mode: 0o600 });
  const args = ['http', String(localPort), '--server', server.apiUrl, '--token-file', key];
  const agent = new Program({ command, args, cwd: folder });
  const publicUrl = await agent.printed(/^(https?:\/\/\S+)$/m);
  return {
    host: new URL(publicUrl).host,
    port: server.httpPort,
    close: async () => {
      const codes = { agent: await agent.stop(), server: await server.program.stop() };
      rmSync(folder, { recursive: true, force: true });
      if (codes.agent !== 0 || codes.server !== 0) {
        throw new Error(
          `ended with ${JSON.stringify(codes)}\nserver:\n${server.program.output}\nagent:\n${agent.output}`,
        );
      }
    },
  };
}
