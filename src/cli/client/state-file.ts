/**
 * What `culvert status` knows of the agents on this machine: one small file per agent, 0600, in a folder of the user. Written by
 * the agent when something changes, read and tidied by `status`. No key is in it.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../../base/errors.ts';

const agentRecord = z.object({
  pid: z.int().min(1),
  /** What tells this process from a later one with the same id; null where the system does not say. */
  bootId: z.string().nullable(),
  startedAt: z.number(),
  version: z.string(),
  server: z.string(),
  /** Name of the key that the agent runs with when `culvert login` stored it. */
  loginLabel: z.string().nullable().default(null),
  /** URL of the agent's own page; null: it has none. */
  page: z.string().nullable().default(null),
  state: z.string(),
  tunnels: z.array(
    z.object({
      name: z.string(),
      protocol: z.string(),
      target: z.string(),
      state: z.string(),
      url: z.string().nullable(),
      reason: z.string().nullable(),
      /** Of a relay: which way its datagrams go, `udp` or `stream`. */
      path: z.string().nullable().default(null),
      /** Of a relay: why they go that way, where there is something to explain. */
      path_why: z.string().nullable().default(null),
      /** Of a relay: the private network. */
      network: z.string().nullable().default(null),
      /** Of a relay: why the service can't be reached. */
      fault: z.string().nullable().default(null),
      /** Of a relay: the WireGuard interface whose peers it keeps in step. */
      manages: z.string().nullable().default(null),
      /** Of a relay: the error that keeps the peers out of step. */
      manages_fault: z.string().nullable().default(null),
    }),
  ),
});

export type AgentRecord = z.infer<typeof agentRecord>;

/** The folder of the state files: the user's runtime folder, else one of the user's own under the temporary folder. */
export function runtimeDir(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_RUNTIME_DIR'];
  if (given !== undefined && given !== '') return join(given, 'culvert');
  return join(tmpdir(), `culvert-${userInfo().uid}`);
}

export class StateFile {
  readonly #path: string;

  /** @throws Error when the folder belongs to another user. */
  constructor(dir: string, pid: number) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { uid } = userInfo();
    if (uid >= 0 && statSync(dir).uid !== uid) throw new Error(`${dir} belongs to another user`);
    this.#path = join(dir, `agent-${pid}.json`);
  }

  write(record: AgentRecord): void {
    const part = `${this.#path}.part`;
    writeFileSync(part, JSON.stringify(record), { mode: 0o600 });
    renameSync(part, this.#path);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

/** The agents that run now. Files of agents that are gone are removed. */
export function listAgents(dir: string): AgentRecord[] {
  const found: AgentRecord[] = [];
  for (const name of filesIn(dir)) {
    const path = join(dir, name);
    const record = readRecord(path);
    if (record !== undefined && isAlive(record)) found.push(record);
    else rmSync(path, { force: true });
  }
  return found.sort((a, b) => a.startedAt - b.startedAt);
}

/** Start time of a process in kernel ticks, where /proc has it. */
export function bootIdOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field may hold spaces and brackets: count from behind its last bracket. Field 22 is the start time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null; // no /proc, or no such process: isAlive asks by signal as well
  }
}

function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => /^agent-\d+\.json$/.test(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function readRecord(path: string): AgentRecord | undefined {
  try {
    return agentRecord.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined; // gone between listing and reading, or not ours: the caller removes it
  }
}

function isAlive(record: AgentRecord): boolean {
  try {
    process.kill(record.pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return record.bootId === null || bootIdOf(record.pid) === record.bootId;
}
