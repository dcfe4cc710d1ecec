// A refused argument says what it was, and what would have been right.
import { PosencError, alibi, attention, rope } from "posenc";

const tries = [
  () => alibi({ heads: 0 }),
  () => alibi({ heads: 8, symetric: false }),
  () => attention([[1, 0]], [[1, 0]], [[1]], { bias: rope({ dim: 2 }) }),
  () => attention([[1, 0]], [[NaN, 0]], [[1]]),
];
for (const attempt of tries) {
  try {
    attempt();
  } catch (error) {
    console.log(error instanceof PosencError, error.code, "|", error.message);
  }
}
//> true out-of-range | alibi: heads must be an integer from 1 to 1024, got 0
//> true unknown-option | alibi: there is no option symetric, did you mean symmetric?
//> true wrong-slot | attention: bias must be a bias scheme, got the rotate scheme rope
//> true not-finite | attention: k must be finite numbers, got NaN at token 0, channel 0
