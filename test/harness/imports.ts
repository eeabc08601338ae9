/** The imports of the source tree, as the text of its files has them. No file is loaded. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export interface Import {
  readonly from: string;
  /** `src/…` or the name of an npm package. */
  readonly to: string;
  /** `type`: no more than types, so that nothing is loaded; `lazy`: `import()`, loaded when it runs. */
  readonly kind: 'value' | 'type' | 'lazy';
}

interface Mention {
  /** As it is written: `./pages.ts`, `hono/cors`. */
  readonly specifier: string;
  readonly kind: Import['kind'];
}

/** Up to the last name of a module, and enough for the name: the rest, most of a file, is not parsed. */
const TO_LAST_NAME = /^[\s\S]*\b(?:from|import)\s*['"(][\s\S]{0,200}/;
/** `import('x')`, as a value or as a type, can stand anywhere; all else is a statement of the file itself. */
const ANYWHERE = /\bimport\s*\(/;

/**
 * What a file mentions, in its order. `import { type A } from` is by value, as Node keeps it and loads the module. A name that is
 * computed is passed over.
 */
export function mentionsIn(file: string, text: string): readonly Mention[] {
  const [head = ''] = TO_LAST_NAME.exec(text) ?? [];
  const source = ts.createSourceFile(file, head, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const found: Mention[] = [];
  const add = (name: ts.Node | undefined, kind: Import['kind']): void => {
    if (name !== undefined && ts.isStringLiteralLike(name)) found.push({ specifier: name.text, kind });
  };
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type' : 'value');
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly ? 'type' : 'value');
    } else if (ts.isImportTypeNode(node)) {
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, 'type');
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], 'lazy');
    }
  };
  const walk = (node: ts.Node): void => {
    look(node);
    ts.forEachChild(node, walk);
  };
  if (ANYWHERE.test(head)) walk(source);
  else source.statements.forEach(look);
  return found;
}

/** The package of `hono/cors`, which `exports` of the package must have. Throws where it is not there. */
function packageOf(specifier: string): string {
  if (!existsSync(fileURLToPath(import.meta.resolve(specifier)))) throw new Error(`${specifier} has no file`);
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/**
 * Every file of `folder` and all that they import, followed; the modules of Node and generated types of the API are left out.
 * Throws for an import that is not there. Paths are relative to the working directory, the root of the tree.
 */
export function scanImports(folder: string): {
  readonly files: readonly string[];
  readonly imports: readonly Import[];
} {
  const files = new Set(globSync(`${folder}/**/*.{ts,tsx}`));
  const imports: Import[] = [];
  const packages = new Map<string, string>();
  const targetOf = (from: string, specifier: string): string => {
    const known = packages.get(specifier);
    if (known !== undefined) return known;
    try {
      const path = join(from, '..', specifier);
      if (specifier.startsWith('.') && !existsSync(path)) throw new Error(`${path} has no file`);
      if (specifier.startsWith('.')) return path;
      packages.set(specifier, packageOf(specifier));
    } catch (cause) {
      throw new Error(`${from} imports ${specifier}, which is not there`, { cause });
    }
    return targetOf(from, specifier);
  };
  for (const from of files) {
    if (!/\.tsx?$/.test(from)) continue;
    for (const { specifier, kind } of mentionsIn(from, readFileSync(from, 'utf8'))) {
      if (specifier.startsWith('node:') || specifier.endsWith('/schema.gen.ts')) continue;
      const to = targetOf(from, specifier);
      if (specifier.startsWith('.')) files.add(to);
      imports.push({ from, to, kind });
    }
  }
  return { files: [...files], imports };
}
