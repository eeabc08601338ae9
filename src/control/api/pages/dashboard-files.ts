/**
 * The files of the dashboard as the build has packed them (scripts/build-dashboard.mjs): read once, served as they are. Their names say their
 * content, so that browsers may keep them for ever. Used by dashboard-page.ts and routes/dashboard.ts.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { readBuiltFile } from '../../../base/assets.ts';

const unzip = promisify(gunzip);

const List = z.object({
  /** Run at once; the other goes on with it. */
  start: z.string(),
  script: z.string(),
  style: z.string(),
  preload: z.array(z.string()),
  /** What the page of an address below `/app` (`/tunnels/:id`) needs besides. Open to everybody; `*`: what others see who are not signed in. */
  pages: z.array(z.object({ path: z.string(), open: z.boolean(), files: z.array(z.string()) })),
  files: z.record(z.string(), z.object({ type: z.string() })),
});

export type FileList = z.infer<typeof List>;
type Coding = 'br' | 'gzip' | 'identity';

export interface DashboardFile {
  readonly type: string;
  readonly coding: Coding;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class DashboardFiles {
  #list: FileList | undefined;
  /** By name and coding; bounded, for there are as many as the build has made. */
  readonly #packed = new Map<string, Uint8Array<ArrayBuffer>>();

  /** Undefined when this program was started from source and the dashboard was never built. */
  list(): FileList | undefined {
    if (this.#list !== undefined) return this.#list;
    const bytes = readBuiltFile('dashboard/files.json');
    if (bytes === undefined) return undefined;
    this.#list = List.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return this.#list;
  }

  /** The file of this name, packed as the client takes it; undefined when there is none. */
  async find(name: string, acceptEncoding: string): Promise<DashboardFile | undefined> {
    const files = this.list()?.files;
    const file = files !== undefined && Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) return undefined;
    const coding = codingFor(acceptEncoding);
    const key = `${coding} ${name}`;
    let bytes = this.#packed.get(key);
    if (bytes === undefined) this.#packed.set(key, (bytes = await read(name, coding)));
    return { type: file.type, coding, bytes };
  }
}

/** RFC 9110, section 12.5.3; a coding with `q=0` is not acceptable. */
function codingFor(accept: string): Coding {
  const offers = accept.toLowerCase().split(',');
  const taken = new Set(
    offers.filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one)).map((one) => one.split(';')[0]?.trim()),
  );
  if (taken.has('br')) return 'br';
  return taken.has('gzip') ? 'gzip' : 'identity';
}

async function read(name: string, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
  const found = readBuiltFile(`dashboard/${name}.${coding === 'br' ? 'br' : 'gz'}`);
  if (found === undefined) throw new Error(`the build has listed ${name} and left it out`);
  return Uint8Array.from(coding === 'identity' ? await unzip(found) : found);
}
