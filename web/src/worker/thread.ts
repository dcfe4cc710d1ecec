// What a worker runs: the API, answering the thread that made it. The modules come by message.
import * as posenc from "../index.js";
import * as functions from "./functions.js";
import { serveMaker } from "./serve.js";

serveMaker({ ...posenc, ...functions });
