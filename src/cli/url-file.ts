/**
 * The file of `--url-file`: the public URLs, one per line, for scripts. Written whole or not at all; removed at exit.
 */
import { rename, rm, writeFile } from 'node:fs/promises';

export class UrlFile {
  readonly #path: string;
  #last: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Replaces the content. Writes follow one another. */
  write(urls: readonly string[]): Promise<void> {
    this.#last = this.#last.then(async () => {
      const part = `${this.#path}.${process.pid}.part`;
      await writeFile(part, urls.map((url) => `${url}\n`).join(''), { mode: 0o644 });
      await rename(part, this.#path);
    });
    return this.#last;
  }

  remove(): Promise<void> {
    this.#last = this.#last.catch(() => undefined).then(() => rm(this.#path, { force: true }));
    return this.#last;
  }
}
