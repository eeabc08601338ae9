/** How many problems need attention, beside the menu's entry of the overview: they are seen from every page. */
import { Badge, VisuallyHidden } from '@mantine/core';
import { countText } from '../parts/format.ts';
import { useAttention } from '../pages/overview/overview-queries.ts';
import { attentionIn } from './menu.ts';

export function AttentionMark() {
  const { count, isCritical } = attentionIn(useAttention().data ?? []);
  if (count === 0) return null;
  return (
    <Badge variant="filled" color={isCritical ? 'red.9' : 'yellow.4'} size="sm" className="culvert-badge">
      {countText(count)}
      <VisuallyHidden>{count === 1 ? ' needs attention' : ' need attention'}</VisuallyHidden>
    </Badge>
  );
}
