/** The peers of an interface that an agent has added itself: a small file in its state folder. All others were added by other programs and stay. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import { writeDurably } from '../../../base/process/durable-file.ts';

/** As it is on the disk. */
interface File {
  readonly version: 1;
  readonly interface: string;
  readonly network_id: string;
  /** Of which instance of the interface: peers of another one were not added by the agent. */
  readonly instance: string;
  /** Public keys. */
  readonly peers: readonly string[];
}

export class OwnPeers {
  readonly path: string;
  readonly #of: { readonly interface: string; readonly network_id: string };

  constructor(path: string, of: { readonly interface: string; readonly network_id: string }) {
    this.path = path;
    this.#of = of;
  }

  /** Those of this instance. Throws for a file that can't be read: what is in it may be all that tells own peers from others. */
  read(instance: string): Set<string> {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return new Set();
      throw error;
    }
    const parsed = fileFrom(text);
    if (parsed === undefined)
      throw new Error(`${this.path} was not written by culvert. Delete it, and the peers that it named`);
    return new Set(parsed.instance === instance ? parsed.peers : []);
  }

  /** Throws the system's error. */
  write(instance: string, keys: ReadonlySet<string>): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const content: File = { version: 1, ...this.#of, instance, peers: [...keys].sort() };
    writeDurably(this.path, `${JSON.stringify(content, undefined, 2)}\n`, { replaces: true });
  }
}

function fileFrom(text: string): Pick<File, 'instance' | 'peers'> | undefined {
  let value: Partial<Record<keyof File, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined; // no JSON is no file of ours either
  }
  const { version, instance, peers } = value ?? {};
  if (version !== 1 || typeof instance !== 'string' || !Array.isArray(peers)) return undefined;
  return peers.every((key) => typeof key === 'string') ? { instance, peers } : undefined;
}
