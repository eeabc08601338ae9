/** What whoever is not signed in sees at every address of the dashboard; once they are, the page that they wanted is there. */
import { useLocation } from 'wouter';
import type { Arrival } from '../../place.ts';
import { Frame } from './frame.tsx';
import { Ways } from './ways.tsx';

export function WaysIn({ arrival }: { readonly arrival: Arrival }) {
  const [path, navigate] = useLocation();
  return (
    <Frame title="Sign in">
      <Ways
        arrival={arrival}
        title="Sign in"
        order={1}
        returnTo={`/app${path}${location.search}`}
        onConfirmed={() => navigate('/')}
      />
    </Frame>
  );
}
