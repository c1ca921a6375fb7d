"""Word lists for `recall/question.py`: who speaks in a paste, how a question begins, how an instruction does."""

from __future__ import annotations

__all__ = ["ABOUT_ANSWERS", "ASKING", "CLOSING", "INSTRUCTING", "LABELS", "OTHERS", "OURS", "REPLYING"]

OURS = (
    "user", "human", "question", "query", "q", "my question", "user query", "user question", "customer", "you",
    "пользователь", "человек", "вопрос", "мой вопрос", "клиент", "用户", "用戶", "人类", "问题", "問題", "提问", "我", "问",
)  # fmt: skip
"""Who asks, as it stands before a colon."""

OTHERS = (
    "assistant", "ai", "bot", "agent", "model", "gpt", "chatgpt", "claude", "system", "system prompt", "developer", "tool", "function",
    "tool output", "tool result", "observation", "thought", "action", "answer", "a", "response", "context", "instructions", "instruction",
    "rules", "example", "examples", "документ", "контекст", "ассистент", "помощник", "бот", "система", "системный промпт", "ответ",
    "инструкция", "инструкции", "правила", "пример", "助手", "系统", "系統", "系统提示", "机器人", "工具", "回答", "答", "上下文", "说明", "指令", "规则", "示例",
)  # fmt: skip
"""Who does not."""

LABELS = tuple(label for label in OURS if label not in ("you", "我"))

CLOSING = ("吗", "呢", "吗。", "呢。")
"""How a Chinese question without its mark ends."""

ASKING = (
    "what, who, whom, whose, which, when, where, why, how, did, does, tell me, list, show me, remind me, summarize, summarise, "
    "give me, find, name, describe, explain, recall, compare, look up, search for, can you tell, can you list, could you tell, "
    "do you remember, do you know, i want to know, i need to know, i wonder, please tell, in what, at what, on what, for what, "
    "to whom, with whom, from where, since when, have i, have we, has, is there, are there, was there",
    "кто, что, где, когда, почему, зачем, как, какой, какая, какое, какие, каком, какую, какого, каких, сколько, чей, чья, чьё, чьи, куда, "
    "откуда, кого, кому, кем, о ком, о чем, о чём, с кем, у кого, в каком, в какой, на каком, на какой, чему, чего, расскажи, расскажите, "
    "перечисли, перечислите, покажи, напомни, напомните, найди, назови, опиши, объясни, сравни, скажи, подскажи, подскажите, правда ли, есть ли, "
    "было ли, был ли, можешь рассказать, помнишь, знаешь",
    "谁, 什么, 哪, 为什么, 为何, 怎么, 怎样, 如何, 多少, 几, 是否, 何时, 何处, 请问, 列出, 告诉我, 总结, 介绍, 描述, 解释, 比较, 提醒我, 请列出, 请告诉, 请总结, "
    "请介绍, 请描述, 请解释, 查一下, 帮我查, 帮我找",
)
"""How a question or a request to tell something begins."""

INSTRUCTING = (
    "you are, you're, your task, your job, your role, your goal, your name is, your answer, your answers, your response, your responses, "
    "your output, you must, you should, you will, you have access, you can, you may, you do not, you never, you always, act as, assume, "
    "as an ai, as a helpful, always, never, do not, don't, answer, please answer, respond, please respond, reply, please reply, keep, "
    "please keep, be concise, be brief, be polite, be careful, be honest, be precise, be specific, use, please use, only use, only answer, "
    "use only, if you, if the user, if the, if a, if there, if no, if any, if asked, if unsure, when you, when the user, when a user, "
    "when answering, when asked, when the, think, let's think, make sure, ensure, remember that, remember to, note that, please note, cite, "
    "return only, return your, return the, output, format, write your, write in, follow, avoid, begin, start your, the user, users may, "
    "today is, today's date, the current date, current date, knowledge cutoff, limit, in one sentence, in a few words, thanks, thank you, "
    "kind regards, best regards, regards, provide your, "
    "provide a short, provide only, prefer, refuse, treat, stay, speak, quote, base your, no preamble, no explanation, just the answer, "
    "just answer, explain your reasoning, show your work, take a deep breath, ask clarifying, ask for, help the user, help users, "
    "your instructions, tone:, style:, format:, language:, role:, goal:, task:, rules:, output:, length:, audience:, persona:, constraints:, these rules, the following, below is, above is, here is, here are, this is a, context, be",
    "ты —, ты -, ты –, вы —, вы -, вы –, ты помощник, ты ассистент, ты эксперт, ты полезный, ты опытный, вы помощник, вы ассистент, вы эксперт, твоя задача, ваша задача, твоя роль, твоя цель, "
    "отвечай, отвечайте, ответь, ответьте, всегда, никогда, не выдумывай, не придумывай, не используй, не упоминай, не раскрывай, не добавляй, "
    "не пиши, не отвечай, не повторяй, не давай, не спорь, не обещай, используй, используйте, если, когда пользователь, когда тебя, когда отвечаешь, "
    "пиши, пишите, будь, будьте, думай, подумай, помни, помните, следуй, соблюдай, сегодня, текущая дата, пожалуйста ответь, пожалуйста отвечай, "
    "кратко, коротко, спасибо, цитируй, указывай, укажи источник, ссылайся, опирайся, проверяй, старайся, избегай, учитывай, обращайся, держи, "
    "говори, сохраняй, формат, пользователь, пользователи, ниже, выше, вот, по умолчанию, у тебя есть, тебе, ты можешь, ты должен, ты не, ты всегда, ты никогда, "
    "дай краткий, только ответ, без пояснений, с уважением, объясни ход, рассуждай, начинай, заканчивай, отказывайся, уточняй, начни, необходимо, запрещается, запрещено, следует, нельзя, требуется, ответ должен, ответы должны, при отсутствии, приведи, "
    "приведите, сообщи, сообщите, опирайтесь, указывайте, избегайте, соблюдайте, помогай, помогайте, тон:, стиль:, формат:, язык:, роль:, цель:, задача:",
    "你是, 您是, 你的任务, 你的职责, 你的角色, 你的目标, 你的回答, 你需要, 你应, 你必须, 你可以, 你不, 你会, 你将, 你只, 请用, 请简, 请直接, 请勿, 请不要, 请以, 请保持, 请注意, 请回答, 请始终, "
    "请根据, 请务必, 请确保, 请尽量, 请遵, 请使用, 请只, 请一步, 不要, 不得, 禁止, 切勿, 始终, 必须, 务必, 如果, 若, 当用户, 当你, 回答时, 回答要, 回答应, 回答问题, 回答必须, 回答请, 用中文, "
    "谢谢, 今天是, 今天的日期, 当前日期, 当前时间, 仅, 只能, 只根据, 只使用, 只回答, 保持, 遵循, 遵守, 避免, 引用, 使用, 用户, 以下, 以上, 下面, 上面, 简要回答, 简短回答, 简洁, 尽量, 确保, 优先, 拒绝, 对于, 注意, 输出, "
    "格式, 根据上, 根据以, 语气, 默认, 一步一步, 逐步, 不需要解释, 无需解释, 直接回答, 直接给出, 只依据, 每句话, 不超过, 查不到, 要求：, 目标：, 语气：, 风格：, 格式：, 语言：, 角色：, 任务：",
)
"""How a sentence begins that tells somebody how to behave or to answer."""

REPLYING = (
    "can you answer, could you answer, can you reply, can you respond, could you reply, could you respond, could you please answer, "
    "can you please answer, would you answer, can you keep, could you keep, can you be, could you be, is that clear, understood, ready, got it, ok",
    "можешь ответить, можете ответить, не мог бы ты ответить, понятно, понял, поняла, готов, готова, ясно",
    "你能回答, 能否回答, 可以回答, 明白, 清楚, 准备好",
)
"""How a sentence begins that only looks like a question: it is about the answer."""

ABOUT_ANSWERS = (
    "the user, your answer, your answers, your response, your responses, these instructions, rules above, rules below, instructions above, "
    "instructions below, context above, context below, provided context, retrieved context, the assistant, answer it, extra sentences, the reply, every reply, the response, it is important that",
    "пользователь, пользователя, пользователю, твой ответ, твои ответы, ваш ответ, ваши ответы, ваша роль, эти инструкции, правила выше, правилам выше, контекст выше, "
    "контексту выше, из контекста, ответь на него",
    "用户, 用戶, 你的回答, 你的答案, 这些指令, 上述规则, 以上规则, 上述指令, 上下文, 回答它",
)
"""What a sentence mentions, anywhere, that is about answering and not about the memory."""
