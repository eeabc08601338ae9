/** A tunnel's traffic policy on the page of the tunnel: what is asked of its visitors, edited by forms or as text. */
import type { Tunnel } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { usePolicy } from './data.ts';
import { PolicyEditor } from './policy-editor.tsx';

export function PolicyPanel({ tunnel }: { readonly tunnel: Tunnel }) {
  const policy = usePolicy(tunnel.id);
  if (policy.data === undefined)
    return (
      <Panel title="Traffic policy">
        <Loaded query={policy}>{() => null}</Loaded>
      </Panel>
    );
  return <PolicyEditor key={tunnel.id} tunnel={tunnel} saved={policy.data.policy} dryRuns={policy.data.dry_run} />;
}
