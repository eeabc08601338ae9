/** A public address that the server made: a link where browsers open it, else text. */
import { Anchor, Text } from '@mantine/core';

export function Outside({ url, size = 'xs' }: { readonly url: string; readonly size?: 'xs' | 'sm' | 'lg' }) {
  if (!/^https?:\/\//.test(url))
    return (
      <Text span size={size} c="dimmed" className="culvert-wrap">
        {url}
      </Text>
    );
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer" size={size} className="culvert-wrap">
      {url}
    </Anchor>
  );
}
