/** Programs for other machines: the verified files of the server's own version, below `releases_dir`. */
import type { FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { listFiles, ReleaseFolder, type VerifiedFile, type VerifiedRelease } from './release-folder.ts';
import { INSTALLERS, PLATFORMS, type System, SYSTEMS } from './systems.ts';

export interface ReleaseOptions {
  /** `releases_dir`: a folder for each version. */
  readonly releasesDir: string;
  /** The program that runs. `key`: verifies its release; null in a build that is no release. */
  readonly program: { readonly version: string; readonly key: string | null };
}

export interface OfferedFile {
  readonly name: string;
  readonly size: number;
  readonly sum: string;
  /** Of an archive, as its name says. */
  readonly platform: string | null;
}

export interface Offer {
  readonly version: string;
  /** False: the program has no key by which it could verify files. */
  readonly isRelease: boolean;
  readonly files: readonly OfferedFile[];
  /** Platforms whose archive is not here. */
  readonly missing: readonly string[];
  /** Systems with an installer and an archive. */
  readonly installable: readonly System[];
}

/** A file to send: from memory, or by a handle that the receiver closes. */
export type Content = { readonly bytes: Buffer } | { readonly handle: FileHandle };

export class Downloads {
  readonly #version: string;
  readonly #folder: ReleaseFolder | undefined;
  /** One look at a time, however many visitors ask. */
  #looking: Promise<VerifiedRelease | undefined> | undefined;

  constructor({ releasesDir, program, log }: ReleaseOptions & { readonly log: Logger }) {
    const { version, key } = program;
    this.#version = version;
    const folder = join(resolve(releasesDir), version);
    this.#folder = key === null ? undefined : new ReleaseFolder({ folder, version, key, log });
  }

  /** What is offered now. */
  async offer(): Promise<Offer> {
    const found = await this.#look();
    const files = found === undefined ? [] : filesOf(found);
    const platforms = new Set(files.map(({ platform }) => platform));
    const names = new Set(files.map(({ name }) => name));
    const wanted = found === undefined ? Object.values(PLATFORMS).flat() : [...found.release.archives.keys()];
    return {
      version: this.#version,
      isRelease: this.#folder !== undefined,
      files,
      missing: wanted.filter((platform) => !platforms.has(platform)),
      installable: SYSTEMS.filter(
        (system) => names.has(INSTALLERS[system]) && PLATFORMS[system].some((platform) => platforms.has(platform)),
      ),
    };
  }

  /** The file of an offer that has this name. */
  async find(name: string): Promise<OfferedFile | undefined> {
    return (await this.offer()).files.find((file) => file.name === name);
  }

  /** Opens a file of an offer; undefined when it has changed since and does not hold any more. */
  async open({ name, sum }: OfferedFile): Promise<Content | undefined> {
    // The second time for a file that was replaced between look and open.
    for (let tries = 0; tries < 2; tries++) {
      const found = await this.#look();
      if (found === undefined) return undefined;
      const list = listFiles(found.release).get(name);
      if (list !== undefined) return list.sum === sum ? list : undefined;
      const file = found.files.get(name);
      if (file?.sum !== sum) return undefined;
      const handle = await this.#folder?.open(file);
      if (handle !== undefined) return { handle };
    }
    return undefined;
  }

  /** Verifies what has changed, so that no visitor waits for it. */
  async verify(): Promise<void> {
    await this.#look();
  }

  #look(): Promise<VerifiedRelease | undefined> {
    this.#looking ??= (this.#folder?.look() ?? Promise.resolve(undefined)).finally(() => (this.#looking = undefined));
    return this.#looking;
  }
}

function filesOf({ release, files }: VerifiedRelease): readonly OfferedFile[] {
  const platforms = new Map([...release.archives].map(([platform, name]) => [name, platform]));
  const offered = ({ name, size, sum }: VerifiedFile): OfferedFile => ({
    name,
    size,
    sum,
    platform: platforms.get(name) ?? null,
  });
  const lists = [...listFiles(release)].map(([name, { bytes, sum }]) => ({
    name,
    size: bytes.length,
    sum,
    platform: null,
  }));
  return [...[...files.values()].map(offered), ...lists];
}
