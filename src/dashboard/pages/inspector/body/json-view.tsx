/** JSON set out over lines, in colours. Each piece is a text node. */
import { Code } from '@mantine/core';
import { memo } from 'react';
import { numbered } from '../numbered.ts';
import { visibleLines } from '../visible-text.ts';
import type { SetOut } from './json-text.ts';

export const JsonView = memo(({ json }: { readonly json: SetOut }) => (
  <Code block className="culvert-body" tabIndex={0} aria-label="The body as JSON">
    {numbered(json.pieces).map(({ at, row: { kind, text } }) =>
      kind === 'plain' ? (
        visibleLines(text)
      ) : (
        <span key={at} data-kind={kind}>
          {visibleLines(text)}
        </span>
      ),
    )}
  </Code>
));
