import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { lineOf, locateKeys } from './locate.ts';

const text = `# head # [not.a.table]
a = 1
'quoted key' = "text with # and = and ] \\" inside" # end

[edge] # table
domain = 'x'
tls.mode = "files"
tls.cert_file = """
[fake]
a = 2
"""""
list = [ # open
  "one", 'two',
  { deep = 1,
    deeper.still = 2 },
]
inline = { x = 1, "y z" = [1, 2], z = {q = 1979-05-27 07:32:00} }
[ edge . limits ]
max = 3
"\\u0061b" = 0

[[item]]
name = 1
[item.sub]
k = 2
[[item]]
name = 3
[item.sub]
k = 4
`;

const expected: ReadonlyArray<[path: string[], line: number | undefined]> = [
  [['a'], 2],
  [['quoted key'], 3],
  [['edge'], 5],
  [['edge', 'domain'], 6],
  [['edge', 'tls'], 7],
  [['edge', 'tls', 'mode'], 7],
  [['edge', 'tls', 'cert_file'], 8],
  [['fake'], undefined],
  [['edge', 'list'], 12],
  [['edge', 'list', '1'], 13],
  [['edge', 'list', '2'], 14],
  [['edge', 'list', '2', 'deep'], 14],
  [['edge', 'list', '2', 'deeper', 'still'], 15],
  [['edge', 'inline', 'y z', '1'], 17],
  [['edge', 'inline', 'z', 'q'], 17],
  [['edge', 'limits'], 18],
  [['edge', 'limits', 'max'], 19],
  [['edge', 'limits', 'ab'], 20],
  [['item'], 22],
  [['item', '0', 'name'], 23],
  [['item', '0', 'sub', 'k'], 25],
  [['item', '1', 'name'], 27],
  [['item', '1', 'sub', 'k'], 29],
  [['edge', 'domain', 'below', 'a', 'value'], 6],
  [['nowhere'], undefined],
];

for (const [newline, name] of [
  ['\n', 'LF'],
  ['\r\n', 'CRLF'],
] as const) {
  const lines = locateKeys(text.replaceAll('\n', newline));
  for (const [path, line] of expected) {
    test(`${name}: ${path.join(' > ')} is on line ${line}`, () => assert.equal(lineOf(lines, path), line));
  }
}

test('the sample is valid TOML and every key of it is found', () => {
  const visit = (value: unknown, path: string[]): void => {
    if (typeof value !== 'object' || value === null || value instanceof Date) return;
    for (const [key, inner] of Object.entries(value)) {
      assert.ok(locateKeys(text).has(JSON.stringify([...path, key])), [...path, key].join('.'));
      visit(inner, [...path, key]);
    }
  };
  visit(parse(text), []);
});

test('finds every key of any document that the TOML writer makes', () => {
  const key = fc.string({
    minLength: 1,
    maxLength: 6,
    unit: fc.constantFrom('a', 'B', '1', '-', '.', ' ', '"', "'", '#', '=', ']', 'é', '\\'),
  });
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
  const { table } = fc.letrec((tie) => ({
    table: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, tie('table')), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(table, (document) => {
      const lines = locateKeys(stringify(document));
      const visit = (value: unknown, path: string[]): void => {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
        for (const [name, inner] of Object.entries(value)) {
          const line = lines.get(JSON.stringify([...path, name]));
          assert.ok(line !== undefined, JSON.stringify([...path, name]));
          visit(inner, [...path, name]);
        }
      };
      visit(document, []);
    }),
    { numRuns: 300 },
  );
});

test('ends on any text whatever, valid or not', () => {
  const unit = fc.constantFrom('[', ']', '{', '}', '"', "'", '=', '.', ',', '#', '\n', '\\', 'a', '1', ' ');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (any) => locateKeys(any).size >= 0),
    { numRuns: 2000 },
  );
});
