/**
 * The file of `--url-file`: the public URLs, one per line, for scripts. Written whole or not at all, and before the URLs are printed, so
 * that a script that waits for either finds both; removed at exit.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

export class UrlFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Replaces the content. */
  write(urls: readonly string[]): void {
    const part = `${this.#path}.${process.pid}.part`;
    writeFileSync(part, urls.map((url) => `${url}\n`).join(''), { mode: 0o644 });
    renameSync(part, this.#path);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
