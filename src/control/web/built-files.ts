/**
 * Files for browsers as the build has packed them (scripts/pack-file.mjs): read once, served as they are. Used for the dashboard and the
 * documentation.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { readBuiltFile } from '../../base/process/assets.ts';

const unzip = promisify(gunzip);

/** The part of `files.json` that both folders have. */
export const BuiltList = z.object({ files: z.record(z.string(), z.object({ type: z.string() })) });

type Coding = 'br' | 'gzip' | 'identity';

export interface BuiltFile {
  readonly type: string;
  readonly coding: Coding;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class BuiltFiles<List extends z.infer<typeof BuiltList>> {
  readonly #folder: string;
  readonly #schema: z.ZodType<List>;
  #list: List | undefined;
  /** By name and coding; bounded, for there are as many as the build has made. */
  readonly #packed = new Map<string, Uint8Array<ArrayBuffer>>();

  /** `folder`: below `dist/`. */
  constructor(folder: string, schema: z.ZodType<List>) {
    this.#folder = folder;
    this.#schema = schema;
  }

  /** Undefined when this program was started from source and the folder was never built. */
  list(): List | undefined {
    if (this.#list !== undefined) return this.#list;
    const bytes = readBuiltFile(`${this.#folder}/files.json`);
    if (bytes === undefined) return undefined;
    this.#list = this.#schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return this.#list;
  }

  /** The file of this name, packed as the client takes it; undefined when there is none. */
  async find(name: string, acceptEncoding: string): Promise<BuiltFile | undefined> {
    const files = this.list()?.files;
    const file = files !== undefined && Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) return undefined;
    const coding = codingFor(acceptEncoding);
    const key = `${coding} ${name}`;
    let bytes = this.#packed.get(key);
    if (bytes === undefined) this.#packed.set(key, (bytes = await this.#read(name, coding)));
    return { type: file.type, coding, bytes };
  }

  async #read(name: string, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
    const found = readBuiltFile(`${this.#folder}/${name}.${coding === 'br' ? 'br' : 'gz'}`);
    if (found === undefined) throw new Error(`the build has listed ${name} and left it out`);
    return Uint8Array.from(coding === 'identity' ? await unzip(found) : found);
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
