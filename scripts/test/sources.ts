/** Places in the bundle → places in the source, for what is shown of failures. The map is read when the first one is asked for. */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './files.ts';

/** `file:///x/tests.mjs:12:3`, in a stack or alone. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]+):(\d+):(\d+)/g;

export class Sources {
  readonly #bundle: string;
  #map: SourceMap | undefined;

  constructor(bundle: string) {
    this.#bundle = bundle;
  }

  /** The text with every place in the bundle replaced, and other places of the repository shortened. */
  shown(text: string): string {
    const mapped = text.replaceAll(PLACE, (place: string, file: string, line: string, column: string) =>
      file === this.#bundle ? (this.#find(Number(line), Number(column)) ?? place) : place,
    );
    return mapped.replaceAll(`file://${ROOT}/`, '').replaceAll(`${ROOT}/`, '');
  }

  #find(line: number, column: number): string | undefined {
    this.#map ??= new SourceMap(JSON.parse(readFileSync(`${this.#bundle}.map`, 'utf8')) as SourceMapPayload);
    const entry = this.#map.findEntry(line - 1, column - 1);
    if (!('originalSource' in entry)) return undefined;
    const file = relative(ROOT, join(dirname(this.#bundle), entry.originalSource));
    return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }
}
