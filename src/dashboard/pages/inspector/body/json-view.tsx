/** JSON set out over lines, in colours. Each piece is a text node. */
import { memo } from 'react';
import type { SetOut } from './json-text.ts';

export const JsonView = memo(({ json }: { readonly json: SetOut }) => (
  <pre className="culvert-body" tabIndex={0} aria-label="The body as JSON">
    {json.pieces.map(({ kind, text }, at) =>
      kind === 'plain' ? text : <span key={at} data-kind={kind} children={text} />,
    )}
  </pre>
));
