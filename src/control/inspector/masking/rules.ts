/** The mask rules of a tunnel, read once and applied to many records. Used by mask-record.ts and body-mask.ts. */
import type { MaskRule } from '../../db/schema.ts';
import { type JsonPath, readJsonPath } from './json-path.ts';

export interface NamedPath {
  /** As it was written. */
  readonly name: string;
  readonly path: JsonPath;
}

/** Names in lower case. */
export interface Names {
  /** 0: there are none. */
  readonly size: number;
  has(name: string): boolean;
}

export interface MaskRules {
  readonly headers: Names;
  readonly queries: Names;
  readonly forms: Names;
  readonly paths: readonly NamedPath[];
}

/** A path that can't be read was refused before it was stored (settings/schemas.ts). */
export function readRules(rules: readonly MaskRule[]): MaskRules {
  const named = (of: 'header' | 'query' | 'form'): ReadonlySet<string> =>
    new Set(rules.flatMap((rule) => (of in rule ? [(rule as Record<string, string>)[of]?.toLowerCase() ?? ''] : [])));
  return {
    headers: named('header'),
    queries: named('query'),
    forms: named('form'),
    paths: rules.flatMap((rule) => {
      const path = 'json_path' in rule ? readJsonPath(rule.json_path) : undefined;
      return path === undefined || !('json_path' in rule) ? [] : [{ name: rule.json_path, path }];
    }),
  };
}
