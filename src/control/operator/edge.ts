/**
 * Connections admitted, refused and cut by the public edge, for operators. Called by routes for superadmins and for `culvert admin`.
 */
import { AppError } from '../../base/errors.ts';
import type { EdgeStats } from '../../plane/edge-stats.ts';
import type { NodeControl } from '../../plane/link.ts';
import { type Actor, allowOperator } from '../core/rules/actor.ts';

export class OperatorEdge {
  readonly #nodes: Pick<NodeControl, 'stats'>;

  constructor(deps: { nodes: Pick<NodeControl, 'stats'> }) {
    this.#nodes = deps.nodes;
  }

  /** Throws `unavailable` when no data node runs: `culvert admin` without a server. */
  async stats(actor: Actor): Promise<EdgeStats> {
    allowOperator(actor);
    const stats = await this.#nodes.stats();
    if (stats === undefined)
      throw new AppError(
        'unavailable',
        'The server is not running, so there are no counts. Start it with `culvert serve`.',
      );
    return stats;
  }
}
