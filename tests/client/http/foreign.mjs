// The client of JavaScript against the HTTP interface: `foreign.mjs URL TOKEN`.
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "determinator/deep";
const ask = (question, approve) => ({ model, input: question, determinator: { approve } });

const models = [];
for await (const one of client.models.list()) models.push(one.id);

const numbers = [];
let id;
const question = "Does metformin lower the risk of colorectal cancer, asked from JavaScript?";
for await (const event of await client.responses.create({ ...ask(question, []), background: true, stream: true })) {
  numbers.push(event.sequence_number);
  if (event.type === "response.created") id = event.response.id;
  if (numbers.length === 7) break;
}
let last;
for await (last of await client.responses.retrieve(id, { stream: true, starting_after: 6 })) numbers.push(last.sequence_number);

const waiting = await client.responses.create(ask(`${question} By dose?`, ["plan"]));
const request = waiting.output.at(-1);
const approved = await client.responses.create({
  model,
  previous_response_id: waiting.id,
  input: [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }],
});

const other = await client.responses.create({ ...ask(`${question} By age?`, ["plan"]), background: true });
const cancelled = await client.responses.cancel(other.id);

const chunks = [];
const messages = [{ role: "user", content: `${question} Briefly?` }];
for await (const chunk of await client.chat.completions.create({ model: "determinator/simple", messages, stream: true }))
  chunks.push(chunk.choices[0].delta.content ?? "");

console.log(
  JSON.stringify({
    models,
    numbers,
    end: last.type,
    text: last.response.output.at(-1).content[0].text,
    request: request.type,
    approved: approved.status,
    cancelled: cancelled.status,
    chat: chunks.join(""),
  }),
);
