/** What a check phrase is made of, for programs and for the page in a browser: nothing here needs Node. The phrase itself: check-phrase.ts. */

/** 32 random bytes in base64url without padding. Codes are compared as text, so what the last digit's two spare bits say does not matter. */
export const DEVICE_CODE = /^[A-Za-z0-9_-]{43}$/;

/** 256 short words without a second meaning that could offend, in alphabetical order. */
export const WORDS: readonly string[] = `
acorn amber anchor apple apron arch arrow aspen atlas attic badge bagel baker balm bamboo banjo barge barley barn basil basin
basket beach beacon bean beaver berry birch bison blanket bloom board bonnet book boot bottle bowl branch bread breeze brick
bridge brook broom brush bucket butter button cabin cable cactus camel camera canal candle canoe canyon carbon carpet carrot
castle cedar cello chair chalk cherry chess circle clay cliff clock cloud clover coast cobalt cocoa comet compass copper coral
cotton cradle crane crayon creek cricket crown crystal cup daisy dawn delta desk dolphin donkey door dove drum eagle earth easel
echo elbow elm engine fabric falcon feather fern ferry fiddle field finch flag flame flute fog forest fossil fox frame frost
galaxy garden garlic gate ginger glacier glass globe glove goose grain granite grape grass gravel grove guitar hammer harbor harp
hazel heron hill honey horse igloo indigo inlet iris island ivory ivy jacket jasmine jigsaw kayak kettle kite kiwi ladder lagoon
lake lamp lantern laurel leaf lemon lilac lily linen lotus maple marble meadow melon mint mirror mitten moon moss mountain museum
mustard napkin needle nickel north oak oasis ocean olive onion opal orange orbit orchid otter owl oyster paddle palm panda paper
parrot peach pearl pebble pencil pepper piano pine planet plum pocket pond poplar poppy prairie prism puffin pumpkin quail quartz
quill quilt rabbit radio raft rain raven reef ribbon river robin rocket rope rose ruby saddle saffron sail salmon sand scarf seal
shell silk silver sky slate snow sparrow spoon spruce`
  .trim()
  .split(/\s+/);
